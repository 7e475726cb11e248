// The state of a running turn, and the few steps that every part of the loop takes with it.
import { epochSeconds } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { TurnState } from "#protocol/events.ts";
import { addUsage, type SessionRow, type StoredMessage, type Usage } from "#protocol/messages.ts";
import type { ModelError } from "#protocol/model-errors.ts";
import type { LoopGuards } from "./guards.ts";
import type { LiveText } from "./live-text.ts";
import type { ModelTarget, ToolSpec } from "./ports/model-client.ts";
import type { NewMessage } from "./ports/session-store.ts";
import type { TurnDeps, TurnInput } from "./ports/turn.ts";
import type { TurnStop } from "./turn-stop.ts";

export interface Turn {
  readonly input: TurnInput;
  readonly deps: TurnDeps;
  readonly stop: TurnStop;
  readonly guards: LoopGuards;
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  readonly tools: readonly ToolSpec[];
  /** Windows that a provider's error named in this turn, by `windowKey`. */
  readonly windows: Map<string, number>;
  /** Changes when a compression moves the conversation. */
  session: SessionRow;
  /** What the model sees of the session; grows with each stored row. */
  rows: StoredMessage[];
  system: string;
  target: ModelTarget;
  nextFallback: number;
  /** The answer that is being shown and has no row yet. */
  live: LiveText | null;
  usage: Usage;
  apiCalls: number;
  costUsd: number | null;
}

/** No attempt is left for this model call; the turn ends `failed` with this error. */
export class ModelFailed extends Error {
  readonly error: ModelError;
  constructor(error: ModelError) {
    super(error.message);
    this.name = "ModelFailed";
    this.error = error;
  }
}

export function showState(turn: Turn, state: TurnState): void {
  // A stopped turn stays "interrupting" until its end.
  if (turn.stop.cause === null) turn.deps.emit({ type: "status", state });
}

export function now(turn: Turn): number {
  return epochSeconds(turn.deps.clock);
}

export type TurnMessage = Omit<NewMessage, "timestamp" | "turnId">;

/** Stores one row, then tells viewers. Throws the store's error. */
export async function saveRow(turn: Turn, message: TurnMessage): Promise<void> {
  const row = await storeRow(turn, message);
  tellSaved(turn, row.id, row);
}

/** A client key that the store knows already gives the row that it has, and nothing is written. */
export async function storeRow(turn: Turn, message: TurnMessage): Promise<StoredMessage> {
  const row: NewMessage = { ...message, timestamp: now(turn), turnId: turn.input.turnId };
  const [id] = await turn.deps.store.appendMessages(turn.session.id, [row]);
  if (id === undefined) throw new Error("the store returned no id for a row");
  const known = turn.rows.find((stored) => stored.id === id);
  if (known) return known;
  const stored = storedRow(turn.session.id, id, row);
  turn.rows.push(stored);
  return stored;
}

export function tellSaved(turn: Turn, messageId: number, row: NewMessage): void {
  const { role, kind = null } = row;
  turn.deps.emit({ type: "message-saved", messageId, role, kind });
}

function storedRow(sessionId: string, id: number, row: NewMessage): StoredMessage {
  return {
    id,
    sessionId,
    role: row.role,
    content: row.content,
    toolCallId: row.toolCallId ?? null,
    toolCalls: row.toolCalls ?? null,
    toolName: row.toolName ?? null,
    timestamp: row.timestamp,
    tokenCount: row.tokenCount ?? null,
    finishReason: row.finishReason ?? null,
    reasoning: row.reasoning ?? null,
    reasoningDetails: row.reasoningDetails ?? null,
    active: true,
    kind: row.kind ?? null,
    turnId: row.turnId ?? null,
    platformMessageId: row.platformMessageId ?? null,
    clientKey: row.clientKey ?? null,
  };
}

/** Counts one call's tokens in the turn and in the store. Books that cannot be kept do not end a turn. */
export async function countUsage(
  turn: Turn,
  target: ModelTarget,
  usage: Usage,
): Promise<number | null> {
  const cost = turn.deps.cost(target, usage);
  turn.usage = addUsage(turn.usage, usage);
  turn.costUsd = turn.costUsd === null || cost === null ? null : turn.costUsd + cost;
  await bookUsage(turn.deps, turn.session.id, target, usage);
  return cost;
}

export async function bookUsage(
  deps: Pick<TurnDeps, "store" | "clock" | "log" | "cost">,
  sessionId: string,
  target: ModelTarget,
  usage: Usage,
): Promise<void> {
  const { provider, model } = target;
  const costUsd = deps.cost(target, usage);
  const entry = { sessionId, provider, model, usage, costUsd, at: epochSeconds(deps.clock) };
  await deps.store.addUsage(entry).catch((error: unknown) => {
    deps.log.warn("usage of a model call could not be stored", { error: messageOf(error) });
  });
}
