// Port to what the agent may do. Adapters live in the `tools` room, one file per tool.
import type { Clock } from "#base/clock.ts";
import type { ToolSpec } from "./model-client.ts";

export interface RuleHit {
  /** `hard-block/rm-root`, `dangerous/git-push-force`, `write/outside-cwd`, … */
  readonly id: string;
  readonly reason: string;
}

/**
 * What a tool says of one call before it runs (agent.md §5.3). The agent decides the order; the tool only states facts.
 * `hardBlock` has no override, `denied` is `approvals.deny` and beats everything but the hard list.
 */
export interface Assessment {
  readonly hardBlock: RuleHit | null;
  readonly denied: RuleHit | null;
  readonly dangerous: RuleHit | null;
  /** In `command_allowlist`: allowed without asking, unless hard-blocked or denied. */
  readonly allowListed: boolean;
  /** `command`, `write`, `memory`, … */
  readonly kind: string;
  readonly title: string;
  /** The exact command or change. */
  readonly detail: string;
  /** What "for this session" and "always" remember: the same key is not asked for again. */
  readonly allowKey: string;
}

export const HARMLESS: Assessment = {
  hardBlock: null,
  denied: null,
  dangerous: null,
  allowListed: false,
  kind: "none",
  title: "",
  detail: "",
  allowKey: "",
};

export interface Question {
  readonly question: string;
  readonly choices: readonly string[];
}

/** What the loop hands to a running tool. */
export interface ToolContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  /** The session's working directory; `setCwd` makes a change last for later calls. */
  readonly cwd: string;
  setCwd(path: string): void;
  /** Aborts when the turn is interrupted: every process group of the call must be gone ≤ 2.5 s later. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Live output for viewers. Never throws. */
  output(stream: "stdout" | "stderr" | "progress", text: string): void;
  /** Asks the user. Resolves with null when nobody answered in `agent.clarify_timeout`. */
  ask(question: Question): Promise<string | null>;
  /** True where nobody can answer questions (cron, webhook, one-shot). */
  readonly unattended: boolean;
}

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: string };

/** `code` is a stable upper-case word (`NOT_A_FILE`, `AMBIGUOUS`, …); anything else thrown is `TOOL_FAILED`. */
export class ToolError extends Error {
  readonly code: string;
  readonly data: Readonly<Record<string, unknown>>;
  constructor(code: string, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "ToolError";
    this.code = code;
    this.data = data;
  }
}

export interface Tool extends ToolSpec {
  readonly toolset: string;
  /** Runs alone, in call order (agent.md §4.6). */
  readonly exclusive: boolean;
  /** Its output is somebody else's text: the result is marked `"untrusted": true`. */
  readonly untrusted: boolean;
  /** null when it can be offered, else the reason why not. Asked once per session, when its tool list is made. */
  unavailable(): string | null;
  /** Checks an input against the schema. Never throws. */
  parse(input: unknown): Parsed;
  /** Facts for the approval order. `input` is what `parse` returned. Reads at most file metadata. */
  assess(
    input: unknown,
    context: { readonly cwd: string; readonly sessionId: string },
  ): Promise<Assessment>;
  /** Runs one call. Returns the object that becomes the JSON result, or throws ToolError. Cutting and spilling are the registry's. */
  run(input: unknown, context: ToolContext): Promise<Readonly<Record<string, unknown>>>;
}

/** One JSON tool message for the model, already cut, spilled and redacted. */
export interface ToolResult {
  readonly ok: boolean;
  /** JSON text, at most `limits` characters. */
  readonly content: string;
  /** One line for people. */
  readonly summary: string;
  /** Size of the whole result in bytes, before cutting. */
  readonly bytes: number;
  readonly truncated: boolean;
  readonly code?: string;
}

/** The tools of one session. */
export interface ToolBox {
  /** In the order in which they stand on the wire; byte-stable for the session (I1). */
  readonly tools: readonly Tool[];
  find(name: string): Tool | null;
  /** The nearest known names, for the error of an unknown one. */
  nearest(name: string): readonly string[];
  /** Runs `tool.run` and turns whatever comes into one ToolResult. Never throws. */
  execute(tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult>;
  /** Remembers "always" for a key (command_allowlist). A failed write is the caller's notice. */
  allowAlways(assessment: Assessment): Promise<void>;
  /** Ends what the session left running (background processes). */
  close(): Promise<void>;
}
