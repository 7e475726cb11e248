// Stored rows as a model gets them: roles alternate (I2) and every call has exactly one result, in order (I3).
import type { StoredMessage } from "#protocol/messages.ts";
import type { ModelMessage, ModelTarget, StoredReasoning } from "./ports/model-client.ts";

const OUTCOME_UNKNOWN = JSON.stringify({ error: "interrupted", note: "outcome unknown" });

/** Provider's own form of reasoning, as it is kept in `reasoning_details`. */
export interface ReasoningRecord {
  readonly provider: string;
  readonly details: unknown;
}

type Target = Pick<ModelTarget, "provider" | "replaysReasoning">;

/**
 * Pure and stable: more rows at the end never change what the earlier ones gave (I1), except that user texts waiting
 * together are joined by a blank line. Results without a call are dropped, a call without a result gets one.
 */
export function wireHistory(rows: readonly StoredMessage[], target: Target): ModelMessage[] {
  const results = resultsByCall(rows);
  const messages: ModelMessage[] = [];
  for (const row of rows) {
    if (row.kind === "notice") continue;
    if (row.role === "user") addUser(messages, row.content ?? "");
    if (row.role === "assistant") addAssistant(messages, row, results, target);
  }
  // Providers want the user to speak first; an undone or imported beginning may lack it.
  if (messages[0]?.role === "assistant")
    messages.unshift({ role: "user", text: "(earlier messages are not shown)" });
  return messages;
}

/** Lists, because imported histories use the same id again in a later answer. */
function resultsByCall(rows: readonly StoredMessage[]): Map<string, string[]> {
  const results = new Map<string, string[]>();
  for (const row of rows) {
    if (row.role !== "tool" || row.toolCallId === null) continue;
    const known = results.get(row.toolCallId);
    if (known) known.push(row.content ?? "");
    else results.set(row.toolCallId, [row.content ?? ""]);
  }
  return results;
}

function addUser(messages: ModelMessage[], text: string): void {
  if (text === "") return;
  const last = messages.at(-1);
  if (last?.role === "user") {
    messages[messages.length - 1] = { role: "user", text: `${last.text}\n\n${text}` };
  } else messages.push({ role: "user", text });
}

function addAssistant(
  messages: ModelMessage[],
  row: StoredMessage,
  results: ReadonlyMap<string, string[]>,
  target: Target,
): void {
  const calls = row.toolCalls ?? [];
  const last = messages.at(-1);
  let text = row.content ?? "";
  if (text === "" && calls.length === 0) return;
  if (last?.role === "assistant") {
    // Only imported histories have two answers in a row; the first of them has no calls, or tool messages would follow.
    messages.pop();
    text = [last.text, text].filter((part) => part !== "").join("\n\n");
  }
  const reasoning = reasoningFor(row, target);
  messages.push({
    role: "assistant",
    text,
    toolCalls: calls,
    ...(reasoning ? { reasoning } : {}),
  });
  for (const call of calls) {
    const content = results.get(call.id)?.shift() ?? OUTCOME_UNKNOWN;
    messages.push({ role: "tool", callId: call.id, name: call.name, content });
  }
}

function reasoningFor(row: StoredMessage, target: Target): StoredReasoning | null {
  if (!target.replaysReasoning || !isReasoningRecord(row.reasoningDetails)) return null;
  const { provider, details } = row.reasoningDetails;
  return provider === target.provider ? { provider, text: row.reasoning ?? "", details } : null;
}

function isReasoningRecord(value: unknown): value is ReasoningRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    "details" in value &&
    "provider" in value &&
    typeof value.provider === "string"
  );
}
