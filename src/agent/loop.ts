// One turn, from the user's message to the final answer (agent.md §4): call, tools, call … until an answer without
// calls. Everything that touches the world comes in through TurnDeps; every way out is one `turn-end` (I7).
import { compressForLimit, compressIfDue } from "./compress-turn.ts";
import { callModel } from "./model-call.ts";
import type { ModelCall, Reply, ToolChoice } from "./model-attempt.ts";
import type { TurnDeps, TurnEnd, TurnInput } from "./ports/turn.ts";
import { closeTurn, refuseTurn, turnErrorOf, type Ending } from "./turn-close.ts";
import { beginTurn, prepareTurn } from "./turn-open.ts";
import { TurnStop, type StopCause } from "./turn-stop.ts";
import { ModelFailed, saveRow, type Turn } from "./turn.ts";
import { runToolRound } from "./tool-round.ts";

/** A context error may be answered by compressing: once, then once more at the limit that the provider named. */
const MAX_LIMIT_COMPRESSIONS = 2;

/**
 * Runs one turn of a session whose lease the caller holds. Never throws: whatever happens is in the TurnEnd and was
 * emitted as `turn-end`. After an abort of `input.signal` it returns within 3 s, as long as the store answers.
 */
export async function runTurn(input: TurnInput, deps: TurnDeps): Promise<TurnEnd> {
  const startedMs = deps.clock.monotonicMs();
  const stop = new TurnStop({
    signal: input.signal,
    clock: deps.clock,
    budgetMs: deps.settings.runBudgetMs,
    onStop: (cause) => tellStop(deps, cause),
  });
  try {
    const turn = await prepareTurn(input, deps, stop);
    return await runPrepared(turn);
  } catch (error) {
    return refuseTurn(input, deps, startedMs, error);
  } finally {
    stop.close();
  }
}

async function runPrepared(turn: Turn): Promise<TurnEnd> {
  let ending: Ending;
  try {
    await beginTurn(turn);
    turn.stop.throwIfStopped();
    ending = await converse(turn);
  } catch (error) {
    ending = endingOf(turn, error);
  }
  return closeTurn(turn, ending);
}

/** Rounds of call and tools up to `agent.max_turns`, then one last call without tools. */
async function converse(turn: Turn): Promise<Ending> {
  const { maxTurns } = turn.deps.settings;
  for (let round = 0; round < maxTurns; round++) {
    await compressIfDue(turn);
    const reply = await askModel(turn, "auto");
    if (reply.calls.length === 0) return { outcome: "done", reply };
    await runCalls(turn, reply);
  }
  return lastCall(turn, maxTurns);
}

async function askModel(turn: Turn, toolChoice: ToolChoice): Promise<Reply> {
  for (let compressions = 0; ; compressions++) {
    const outcome = await callModel(turn, toolChoice);
    if (outcome.type === "reply") return outcome.reply;
    const isLast = compressions >= MAX_LIMIT_COMPRESSIONS;
    if (isLast || !(await compressForLimit(turn, outcome.error))) {
      throw new ModelFailed(outcome.error);
    }
  }
}

async function runCalls(turn: Turn, reply: Reply): Promise<void> {
  const calls = withUniqueIds(turn, reply.calls);
  await saveRow(turn, {
    role: "assistant",
    content: reply.text === "" ? null : reply.text,
    toolCalls: calls.map((call) => ({
      id: call.callId,
      name: call.name,
      arguments: turn.deps.redactor.text(call.inputText),
    })),
    finishReason: reply.finishReason,
    reasoning: reply.reasoning === "" ? null : reply.reasoning,
    reasoningDetails: reply.reasoningDetails,
  });
  turn.live = null;
  await runToolRound(turn, calls);
}

/** Some servers number their calls from 0 in each answer; results are found by id, so an id is used once per session. */
function withUniqueIds(turn: Turn, calls: readonly ModelCall[]): readonly ModelCall[] {
  const used = new Set(turn.rows.flatMap((row) => row.toolCalls ?? []).map((call) => call.id));
  return calls.map((call) => {
    const callId =
      call.callId === "" || used.has(call.callId) ? turn.deps.makeId("call") : call.callId;
    used.add(callId);
    return { ...call, callId };
  });
}

async function lastCall(turn: Turn, maxTurns: number): Promise<Ending> {
  await saveRow(turn, {
    role: "user",
    kind: "nudge",
    content: `[The limit of ${maxTurns} tool rounds for this turn is reached. Answer now without tools: what is done, what is left, and how to go on.]`,
  });
  await compressIfDue(turn);
  try {
    return { outcome: "budget", budget: "rounds", reply: await askModel(turn, "none") };
  } catch (error) {
    // A model that asks for tools all the same has said nothing: the cap is still what ended the turn.
    if (!(error instanceof ModelFailed) || error.error.kind !== "empty") throw error;
    return { outcome: "budget", budget: "rounds", reply: null };
  }
}

function endingOf(turn: Turn, error: unknown): Ending {
  switch (turn.stop.cause) {
    case "interrupted":
      return { outcome: "interrupted" };
    case "wall-clock":
      return { outcome: "budget", budget: "wall-clock" };
    case "broken":
      return { outcome: "failed", error: turnErrorOf(turn.stop.error, turn.deps) };
    case null:
      return { outcome: "failed", error: turnErrorOf(error, turn.deps) };
  }
}

function tellStop(deps: TurnDeps, cause: StopCause): void {
  const detail = { interrupted: "stopped", "wall-clock": "time is up", broken: "the store failed" };
  deps.emit({ type: "status", state: "interrupting", detail: detail[cause] });
}
