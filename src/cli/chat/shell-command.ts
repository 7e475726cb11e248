// `!CMD` at a terminal: the terminal tool without a model, under the same approvals (agent.md §10, §5.3).
import { judge, type DenialCode } from "#agent/approvals.ts";
import type { ToolBox } from "#agent/ports/tool.ts";
import { systemClock } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import type { ApprovalChoice, ApprovalRequest } from "#protocol/events.ts";
import type { Context } from "../context.ts";
import { openTools } from "./list-tools.ts";
import type { OpenChat } from "./open-chat.ts";

const CHOICES = ["once", "session", "always", "deny"] as const;

/** An approval that no turn asks for. */
export type ShellQuestion = Pick<ApprovalRequest, "title" | "detail" | "rule" | "choices">;

/** Who runs the command, and answers for it. */
export interface ShellHost {
  readonly sessionId: string;
  readonly yolo: boolean;
  readonly signal: AbortSignal;
  show(text: string): void;
  ask(question: ShellQuestion): Promise<ApprovalChoice>;
}

export interface ShellRunner {
  run(command: string, host: ShellHost): Promise<void>;
  /** Ends what its commands left running in the background. */
  close(): Promise<void>;
}

/** One runner for the whole conversation: it remembers the directory and what was allowed for the session. */
export function openShellRunner(context: Context, chat: OpenChat): ShellRunner {
  const allowedKeys = new Set<string>();
  let box: ToolBox | null = null;
  let cwd = process.cwd();
  const openBox = (sessionId: string): ToolBox => {
    box ??= openTools(context, chat.workspace, chat.store, sessionId);
    return box;
  };
  return {
    async run(command, host) {
      const tools = openBox(host.sessionId);
      const tool = tools.find("terminal");
      if (!tool)
        throw new HermesError("TOOL_UNAVAILABLE", "The terminal tool is switched off here.");
      const parsed = tool.parse({ command });
      if (!parsed.ok) throw new HermesError("TOOL_INPUT", parsed.issues);
      await admit(chat, tools, { input: parsed.value, cwd, allowedKeys }, host);
      const result = await tools.execute(tool, parsed.value, {
        sessionId: host.sessionId,
        turnId: "",
        callId: "",
        cwd,
        setCwd: (path) => {
          cwd = path;
        },
        signal: host.signal,
        clock: systemClock,
        output: () => undefined,
        ask: async () => null,
        unattended: true,
      });
      host.show(outputOf(result.content));
    },
    close: async () => box?.close(),
  };
}

interface Call {
  readonly input: unknown;
  readonly cwd: string;
  readonly allowedKeys: Set<string>;
}

/** Returns when the command may run; throws with the rule that forbids it. */
async function admit(chat: OpenChat, tools: ToolBox, call: Call, host: ShellHost): Promise<void> {
  const tool = tools.find("terminal");
  if (!tool) return;
  const { cwd, allowedKeys, input } = call;
  const assessment = await tool.assess(input, { cwd, sessionId: host.sessionId });
  const { approvals } = chat.workspace.loaded().config;
  const verdict = judge(assessment, {
    yolo: host.yolo,
    answerable: true,
    settings: { mode: approvals.mode, timeoutMs: approvals.timeout * 1000, unattended: "deny" },
    allowedKeys,
  });
  if (verdict.verdict === "allow") return;
  const refusal = (code: DenialCode): HermesError =>
    new HermesError(code, `Not run: ${verdict.rule.reason} (${verdict.rule.id}).`);
  if (verdict.verdict === "deny") throw refusal(verdict.code);
  const { title, detail } = assessment;
  const rule = verdict.rule.reason;
  const choice = await host.ask({ title, detail, rule, choices: CHOICES });
  if (choice === "deny") throw refusal("APPROVAL_DENIED");
  if (choice !== "once") allowedKeys.add(assessment.allowKey);
  if (choice === "always") await tools.allowAlways(assessment);
}

/** The tool's JSON answer as what a shell would have shown. */
function outputOf(content: string): string {
  const result = JSON.parse(content) as Record<string, unknown>;
  if (typeof result["error"] === "string") throw new HermesError("TOOL_FAILED", result["error"]);
  const output = typeof result["output"] === "string" ? result["output"].replace(/\n$/, "") : "";
  const code = result["exit_code"];
  const ended = code === 0 ? "" : `[ended with ${String(code ?? result["signal"])}]`;
  return [output, ended].filter((part) => part !== "").join("\n") || "[no output]";
}
