// The beginning of a turn: model, history, prompt, then the turn row and the user's row (I1, I4).
import { createHash } from "node:crypto";
import { HermesError } from "#base/errors.ts";
import { NO_USAGE, type StoredMessage } from "#protocol/messages.ts";
import { LoopGuards } from "./guards.ts";
import type { ToolSpec } from "./ports/model-client.ts";
import type { TurnDeps, TurnInput } from "./ports/turn.ts";
import { now, storeRow, tellSaved, type Turn } from "./turn.ts";
import type { TurnStop } from "./turn-stop.ts";

/** Reads and decides everything; writes nothing but the session's prompt. Throws when there is no turn to be had. */
export async function prepareTurn(input: TurnInput, deps: TurnDeps, stop: TurnStop): Promise<Turn> {
  deps.emit({ type: "status", state: "preparing" });
  const session = await deps.store.getSession(input.sessionId);
  if (!session) {
    throw new HermesError("SESSION_NOT_FOUND", `there is no session ${input.sessionId}`);
  }
  const target = await deps.target();
  // Before the user's row: the store answers open calls at the end of what is there (I5).
  const history = await deps.store.loadHistory(session.id);
  const turn: Turn = {
    input,
    deps,
    stop,
    guards: new LoopGuards(deps.settings.guardrails),
    startedMs: deps.clock.monotonicMs(),
    tools: deps.tools.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    })),
    windows: new Map(),
    session,
    rows: [...history.messages],
    system: "",
    target,
    nextFallback: 0,
    live: null,
    usage: NO_USAGE,
    apiCalls: 0,
    costUsd: 0,
  };
  await settlePrompt(turn);
  if (history.repairedCalls.length > 0) tellRepaired(turn, history.repairedCalls.length);
  return turn;
}

/** Opens the turn's row, stores the user's text and tells viewers that the turn began. */
export async function beginTurn(turn: Turn): Promise<void> {
  const { input, deps, session, target } = turn;
  const { provider, model } = target;
  await deps.store.openTurn({
    turnId: input.turnId,
    sessionId: session.id,
    surface: input.surface,
    provider,
    model,
    startedAt: now(turn),
    owner: input.owner,
  });
  const user =
    input.userText === null
      ? lastUserRow(turn)
      : await storeRow(turn, {
          role: "user",
          content: input.userText,
          clientKey: input.clientKey,
        });
  deps.emit({
    type: "turn-start",
    source: input.surface,
    userMessageId: user?.id ?? 0,
    text: deps.redactor.text(user?.content ?? ""),
    provider,
    model,
  });
  if (input.userText !== null && user) tellSaved(turn, user.id, user);
}

/**
 * The system prompt as stored, or made now and stored (I1). Tools come from the running program: where they differ
 * from those of the session's first call, the old list cannot be had again, and a notice says so.
 */
export async function settlePrompt(turn: Turn): Promise<void> {
  const { deps, session } = turn;
  const toolsHash = hashTools(turn.tools);
  const systemPrompt = session.systemPrompt ?? (await deps.systemPrompt());
  turn.system = systemPrompt;
  if (session.systemPrompt !== null && session.toolsHash === toolsHash) return;
  if (session.systemPrompt !== null && session.toolsHash !== null) tellToolsChanged(deps);
  turn.session = await deps.store.updateSession(session.id, { systemPrompt, toolsHash });
}

export function hashTools(tools: readonly ToolSpec[]): string {
  return createHash("sha256").update(JSON.stringify(tools)).digest("hex");
}

function lastUserRow(turn: Turn): StoredMessage | undefined {
  return turn.rows.findLast((row) => row.role === "user" && row.kind === null);
}

function tellRepaired(turn: Turn, count: number): void {
  turn.deps.emit({
    type: "notice",
    level: "warning",
    code: "OUTCOME_UNKNOWN",
    text: `${count === 1 ? "A tool call was" : `${count} tool calls were`} cut off earlier; what became of it is not known, and it is not run again.`,
  });
}

function tellToolsChanged(deps: TurnDeps): void {
  deps.emit({
    type: "notice",
    level: "info",
    code: "TOOLS_CHANGED",
    text: "The tools of this session changed since its last turn.",
  });
}
