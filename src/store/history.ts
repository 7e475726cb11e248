// What a model may see of a transcript: each call followed by exactly one result, in call order (I3, I5 of agent.md §4.3).
import type { StoredMessage, ToolCall } from "#protocol/messages.ts";

/** A call that nobody answered. */
export interface OpenCall {
  readonly call: ToolCall;
  readonly turnId: string | null;
}

export interface ArrangedHistory {
  readonly messages: readonly StoredMessage[];
  /** In order; empty when every call has its result. */
  readonly open: readonly OpenCall[];
}

interface Group {
  readonly message: StoredMessage;
  /** One slot per call of an assistant row, in call order. */
  readonly slots: { readonly call: ToolCall; result: StoredMessage | null }[];
}

/**
 * `rows` are the active rows by id. A result moves behind its call wherever it was stored (a repaired one comes after
 * later rows); ids may repeat between answers, so a result belongs to the nearest earlier call of its id without one.
 * A result without a call is left out, as every provider refuses it.
 */
export function arrangeHistory(rows: readonly StoredMessage[]): ArrangedHistory {
  const groups: Group[] = [];
  const waiting = new Map<string, Group["slots"]>();
  for (const message of rows) {
    if (message.role === "tool") {
      takeResult(message, waiting);
      continue;
    }
    const slots = (message.toolCalls ?? []).map((call) => ({ call, result: null }));
    groups.push({ message, slots });
    for (const slot of slots)
      waiting.set(slot.call.id, [...(waiting.get(slot.call.id) ?? []), slot]);
  }
  return {
    messages: groups.flatMap(({ message, slots }) => [
      message,
      ...slots.map((slot) => slot.result).filter((result) => result !== null),
    ]),
    open: groups.flatMap(({ message, slots }) =>
      slots
        .filter((slot) => slot.result === null)
        .map((slot) => ({ call: slot.call, turnId: message.turnId })),
    ),
  };
}

function takeResult(message: StoredMessage, waiting: Map<string, Group["slots"]>): void {
  const slot = waiting.get(message.toolCallId ?? "")?.pop();
  if (slot) slot.result = message;
}
