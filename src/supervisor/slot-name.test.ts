import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSlotName, type SlotId, slotName } from "./slot-name.ts";

const LONGEST = "a".repeat(64);

const PAIRS: readonly (readonly [name: string, id: SlotId])[] = [
  ["dashboard", { kind: "dashboard", profile: "default" }],
  ["gateway-default", { kind: "gateway", profile: "default" }],
  ["gateway-coder", { kind: "gateway", profile: "coder" }],
  ["gateway-gateway-x", { kind: "gateway", profile: "gateway-x" }],
  ["gateway-0_-", { kind: "gateway", profile: "0_-" }],
  ["gateway-dashboard", { kind: "gateway", profile: "dashboard" }],
  [`gateway-${LONGEST}`, { kind: "gateway", profile: LONGEST }],
];

for (const [name, id] of PAIRS) {
  test(`${name} and back`, () => {
    assert.deepEqual(parseSlotName(name), id);
    assert.equal(slotName(id), name);
  });
}

const NONE: readonly string[] = [
  "",
  "gateway",
  "gateway-",
  "gateway-A",
  "gateway--x",
  "gateway-a.b",
  "gateway-../x",
  "gateway-a/b",
  "gateway-a b",
  "gateway-a\n",
  "gateway-ä",
  `gateway-${LONGEST}a`,
  ".new-gateway-a.12",
  ".gone-gateway-a.12",
  ".s6-svscan",
  "Dashboard",
  "dashboard2",
  "dashboard/log",
];

for (const name of NONE) {
  test(`${JSON.stringify(name)} is no slot`, () => assert.equal(parseSlotName(name), null));
}

for (const profile of ["", "../x", "A", "a/b", "a\n", `${LONGEST}a`]) {
  test(`${JSON.stringify(profile)} gets no slot`, () => {
    assert.throws(() => slotName({ kind: "gateway", profile }), RangeError);
  });
}
