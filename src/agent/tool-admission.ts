// May this call run? Known tool, readable arguments, right schema, not going in circles, allowed.
import { messageOf } from "#base/errors.ts";
import { askApproval, denialText, judge, type Verdict } from "./approvals.ts";
import type { GuardedCall } from "./guards.ts";
import type { ModelCall } from "./model-attempt.ts";
import type { Assessment, Tool, ToolResult } from "./ports/tool.ts";
import type { Turn } from "./turn.ts";

export type Admission =
  | { readonly admitted: true; readonly tool: Tool; readonly input: unknown }
  | { readonly admitted: false; readonly result: ToolResult };

/** Everything but the approval, so that it can be told before which calls run together. */
export type Reading =
  | { readonly ok: true; readonly tool: Tool; readonly input: unknown }
  | { readonly ok: false; readonly result: ToolResult };

/** A bad call costs a round, not the turn: the model is told what was wrong. */
export function readCall(turn: Turn, call: ModelCall): Reading {
  const { tools } = turn.deps;
  const tool = tools.find(call.name);
  if (!tool) return refuse("UNKNOWN_TOOL", unknownTool(call.name, tools.nearest(call.name)));
  if (call.invalid !== undefined) {
    return refuse("BAD_ARGUMENTS", `The arguments are not valid JSON: ${call.invalid}`);
  }
  const parsed = tool.parse(call.input);
  return parsed.ok
    ? { ok: true, tool, input: parsed.value }
    : refuse("INVALID_INPUT", `The input does not fit ${tool.name}: ${parsed.issues}`);
}

function unknownTool(name: string, nearest: readonly string[]): string {
  const near = nearest.length > 0 ? ` Nearest: ${nearest.join(", ")}.` : "";
  return `There is no tool "${name}".${near}`;
}

/**
 * Judges a call right before it would run, after every earlier exclusive call: what those changed (the working
 * directory) counts. Asks at most one question and waits for its answer.
 */
export async function admitCall(
  turn: Turn,
  callId: string,
  tool: Tool,
  input: unknown,
): Promise<Admission> {
  const looping = turn.guards.refusal({ name: tool.name, input });
  if (looping !== null) {
    return refused(
      errorResult("LOOP_GUARD", `Not run: ${looping}. Try another way or say what stops you.`),
    );
  }
  const assessment = await assess(turn, tool, input);
  if (assessment === null) {
    return refused(
      errorResult("TOOL_FAILED", "Not run: it could not be told whether this call is safe."),
    );
  }
  const verdict = await decide(turn, callId, assessment);
  return verdict.verdict === "deny"
    ? refused(errorResult(verdict.code, denialText(verdict.code, verdict.rule)))
    : { admitted: true, tool, input };
}

/** What the guards count a call as. */
export function guardedCall(call: ModelCall, reading: Reading): GuardedCall {
  return { name: call.name, input: reading.ok ? reading.input : call.inputText };
}

/** An error of ours as one JSON tool message. */
export function errorResult(code: string, error: string): ToolResult {
  const content = JSON.stringify({ error, code });
  return { ok: false, content, summary: error, bytes: content.length, truncated: false, code };
}

async function assess(turn: Turn, tool: Tool, input: unknown): Promise<Assessment | null> {
  try {
    const context = { cwd: turn.deps.memory.cwd, sessionId: turn.session.id };
    return await tool.assess(input, context);
  } catch (error) {
    turn.deps.log.error("a tool call could not be assessed", {
      tool: tool.name,
      error: messageOf(error),
    });
    return null;
  }
}

async function decide(turn: Turn, callId: string, assessment: Assessment): Promise<Verdict> {
  const { input, deps } = turn;
  const verdict = judge(assessment, {
    yolo: input.yolo,
    answerable: input.answerable,
    settings: deps.settings.approvals,
    allowedKeys: deps.memory.allowedKeys,
  });
  return verdict.verdict === "ask" ? askApproval(turn, callId, assessment, verdict.rule) : verdict;
}

function refuse(code: string, error: string): Reading {
  return { ok: false, result: errorResult(code, error) };
}

function refused(result: ToolResult): Admission {
  return { admitted: false, result };
}
