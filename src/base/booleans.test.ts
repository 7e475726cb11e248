import assert from "node:assert/strict";
import { test } from "node:test";
import { SWITCH_CASES } from "../../test/kit/switch-cases.ts";
import { parseSwitch } from "./booleans.ts";

test("every word of the table means what D9 says", () => {
  assert.ok(SWITCH_CASES.length >= 30);
  for (const { text, state } of SWITCH_CASES) {
    assert.equal(parseSwitch(text), state, `${JSON.stringify(text)} should be ${state}`);
  }
});
