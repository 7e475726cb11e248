import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerDesk } from "./answer-desk.ts";

test("the first answer wins, the second is told what was chosen", async () => {
  const desk = new AnswerDesk<string>();
  const waiting = desk.wait("r1");
  assert.deepEqual(desk.answer("r1", "yes", "once"), { ok: true });
  assert.equal(await waiting, "yes");
  assert.deepEqual(desk.answer("r1", "no", "deny"), {
    ok: false,
    reason: "decided",
    choice: "once",
  });
});

test("a request that ended without an answer is decided, an unheard one is unknown", () => {
  const desk = new AnswerDesk<string>();
  void desk.wait("r1");
  desk.settle("r1", "deny");
  assert.deepEqual(desk.answer("r1", "yes", "once"), {
    ok: false,
    reason: "decided",
    choice: "deny",
  });
  assert.deepEqual(desk.answer("r2", "yes", "once"), { ok: false, reason: "unknown" });
});

test("remembers the newest two hundred decisions", () => {
  const desk = new AnswerDesk<string>();
  for (let n = 0; n < 201; n++) desk.settle(`r${n}`, "deny");
  assert.deepEqual(desk.answer("r0", "", ""), { ok: false, reason: "unknown" });
  assert.deepEqual(desk.answer("r200", "", ""), { ok: false, reason: "decided", choice: "deny" });
});
