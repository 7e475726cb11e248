import assert from "node:assert/strict";
import { test } from "node:test";
import type { Role, StoredMessage } from "#protocol/messages.ts";
import { arrangeHistory } from "./history.ts";

/** `u` user, `a` answer, `a:x,y` answer that calls x and y, `t:x` result of x. */
function rowOf(text: string, id: number): StoredMessage {
  const [letter, names = ""] = text.split(":");
  const roles: Readonly<Record<string, Role>> = { u: "user", a: "assistant", t: "tool" };
  const calls = letter === "a" && names !== "" ? names.split(",") : null;
  return {
    id,
    sessionId: "s",
    role: roles[letter ?? ""] ?? "system",
    content: text,
    toolCallId: letter === "t" ? names : null,
    toolCalls: calls?.map((name) => ({ id: name, name: "tool", arguments: "{}" })) ?? null,
    toolName: null,
    timestamp: id,
    tokenCount: null,
    finishReason: null,
    reasoning: null,
    reasoningDetails: null,
    active: true,
    kind: null,
    turnId: "turn",
    platformMessageId: null,
    clientKey: null,
  };
}

const CASES: readonly (readonly [string, string, string, string])[] = [
  ["in order already", "u a:1,2 t:1 t:2 a", "u a:1,2 t:1 t:2 a", ""],
  ["stored in finishing order", "u a:1,2 t:2 t:1 a", "u a:1,2 t:1 t:2 a", ""],
  ["open at the end", "u a:1,2 t:2", "u a:1,2 t:2", "1"],
  ["repaired after later rows", "u a:1 u a t:1", "u a:1 t:1 u a", ""],
  ["result without a call", "u t:9 a", "u a", ""],
  ["second result of one call", "u a:1 t:1 t:1 a", "u a:1 t:1 a", ""],
  ["result before its call", "u t:1 a:1", "u a:1", "1"],
  ["an id used twice", "a:1 t:1 u a:1 t:1", "a:1 t:1 u a:1 t:1", ""],
  ["an id used twice, the first open", "a:1 u a:1 t:1", "a:1 u a:1 t:1", "1"],
  ["nothing", "", "", ""],
];

for (const [name, stored, expected, open] of CASES) {
  test(name, () => {
    const rows = stored.split(" ").filter(Boolean).map(rowOf);
    const arranged = arrangeHistory(rows);
    assert.equal(arranged.messages.map((row) => row.content).join(" "), expected);
    assert.equal(arranged.open.map(({ call }) => call.id).join(" "), open);
  });
}
