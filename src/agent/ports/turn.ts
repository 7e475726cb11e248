// What one turn is given: everything that touches the world comes in here, so the loop stays pure (I9).
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { ProcessIdentity } from "#base/process-identity.ts";
import type { AgentEventBody, ApprovalChoice, TurnError, TurnOutcome } from "#protocol/events.ts";
import type { Usage } from "#protocol/messages.ts";
import type { ModelTarget, ReasoningEffort } from "./model-client.ts";
import type { Redactor } from "./redactor.ts";
import type { SessionStore } from "./session-store.ts";
import type { ToolBox } from "./tool.ts";

export interface CompressionSettings {
  readonly enabled: boolean;
  /** Share of the window that starts a compression (0..1). */
  readonly threshold: number;
  readonly targetRatio: number;
  readonly protectFirst: number;
  readonly protectLast: number;
}

export interface TurnSettings {
  /** Tool rounds per turn. */
  readonly maxTurns: number;
  /** Wall clock of the turn; 0 = none. */
  readonly runBudgetMs: number;
  /** Attempts after the first. */
  readonly apiMaxRetries: number;
  readonly maxParallelTools: number;
  readonly effort: ReasoningEffort;
  readonly approvals: {
    readonly mode: "manual" | "deny" | "off";
    readonly timeoutMs: number;
    /** What a dangerous call gets where nobody can answer. */
    readonly unattended: "deny" | "allow";
  };
  readonly clarifyTimeoutMs: number;
  readonly guardrails: { readonly enabled: boolean; readonly hardStop: boolean };
  readonly compression: CompressionSettings;
}

export interface TurnInput {
  readonly sessionId: string;
  readonly turnId: string;
  /** null: go on with the history as it is (`retry` after an undo keeps the user row). */
  readonly userText: string | null;
  readonly clientKey: string | null;
  readonly surface: string;
  /** Somebody at this surface can answer approvals and questions. */
  readonly answerable: boolean;
  readonly yolo: boolean;
  /** Aborts with reason `interrupted` (stop, Ctrl-C, shutdown). */
  readonly signal: AbortSignal;
  readonly owner: ProcessIdentity;
}

/** What the session keeps between turns and the loop may change. */
export interface SessionMemory {
  cwd: string;
  /** Keys allowed "for this session". */
  readonly allowedKeys: Set<string>;
  /** Prompt tokens as reported last, plus what the estimate needs; 0 before the first call. */
  lastPromptTokens: number;
  /** How many stored messages that number covered. */
  lastPromptMessages: number;
  /** Failed compressions: when the next try is due (monotonic ms) and how many failed in a row. */
  compressRetryAtMs: number;
  compressFailures: number;
}

export interface TurnDeps {
  readonly store: SessionStore;
  readonly tools: ToolBox;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly log: Log;
  readonly settings: TurnSettings;
  readonly memory: SessionMemory;
  /** A fresh id with this prefix; random in production, counted in tests. */
  makeId(prefix: "call" | "req" | "block"): string;
  /** A new session id, for the child that compression makes. */
  makeSessionId(): string;
  /** The session's model. Throws HermesError `MODEL_NOT_CONFIGURED` and kin. */
  target(): Promise<ModelTarget>;
  /** The n-th entry of fallback_providers, null when there are no more or it cannot be used. */
  fallback(index: number): Promise<ModelTarget | null>;
  auxiliary(task: "compression"): Promise<ModelTarget>;
  /** A provider named its real limit: remembered for later sessions. Never throws. */
  rememberWindow(target: ModelTarget, tokens: number): Promise<void>;
  /** The system prompt for a session that has none stored yet (§4.4). */
  systemPrompt(): Promise<string>;
  /** Never throws. The text in it is already redacted. */
  emit(event: AgentEventBody): void;
  /** Resolves with the user's choice; pends for ever when nobody answers. The loop owns time-out and abort. */
  approval(requestId: string): Promise<{ readonly choice: ApprovalChoice; readonly by: string }>;
  clarification(requestId: string): Promise<{ readonly answer: string; readonly by: string }>;
  /** Texts that arrived in mode `steer` since the last call. */
  takeSteer(): readonly string[];
  /** US dollars for one call, null when the price is unknown. */
  cost(target: ModelTarget, usage: Usage): number | null;
}

/** How the turn ended. `sessionId` differs from the input's when a compression moved the conversation. */
export interface TurnEnd {
  readonly sessionId: string;
  readonly outcome: TurnOutcome;
  /** The final answer as stored. */
  readonly text: string;
  readonly messageId: number | null;
  readonly usage: Usage;
  readonly apiCalls: number;
  /** null when the price of one of the calls is unknown. */
  readonly costUsd: number | null;
  /** Who answered last: a fallback may have. null when no model was reached. */
  readonly provider: string | null;
  readonly model: string | null;
  /** For outcome `budget`: which budget it was. */
  readonly budget: "rounds" | "wall-clock" | null;
  readonly error: TurnError | null;
}
