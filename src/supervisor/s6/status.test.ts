// Lines as s6 2.11 and 2.13 print them, and what no s6 prints.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDeaths, parseStatus, type SupervisorStatus } from "./status.ts";

const AT = "@400000006a0d8705075bcd15";
const MS = 1_779_271_392_123;
const NOTHING: SupervisorStatus = {
  up: false,
  wantedUp: false,
  normallyUp: false,
  ready: false,
  pid: null,
  exitCode: null,
  signal: null,
  changedAt: null,
  readyAt: null,
};

const LINES: readonly (readonly [line: string, status: SupervisorStatus | null])[] = [
  [
    `true true true true 52 -1 NA ${AT} ${AT}\n`,
    {
      ...NOTHING,
      up: true,
      wantedUp: true,
      normallyUp: true,
      ready: true,
      pid: 52,
      changedAt: MS,
      readyAt: MS,
    },
  ],
  [
    `true false false false 7 -1 NA ${AT} @4000000000000000000000000000000`,
    { ...NOTHING, up: true, pid: 7, changedAt: MS },
  ],
  [
    `false true false true -1 78 NA ${AT} ${AT}`,
    { ...NOTHING, wantedUp: true, ready: true, exitCode: 78, changedAt: MS, readyAt: MS },
  ],
  [
    `false false false true -1 -1 SIGKILL ${AT} ${AT}`,
    { ...NOTHING, ready: true, signal: "SIGKILL", changedAt: MS, readyAt: MS },
  ],
  [
    `false false true false -1 0 NA ${AT} -`,
    { ...NOTHING, normallyUp: true, exitCode: 0, changedAt: MS },
  ],
  ["", null],
  ["\n", null],
  [`true true true true 52 -1 NA ${AT}`, null],
  [`true true true true 52 -1 NA ${AT} ${AT} more`, null],
  [`up true true true 52 -1 NA ${AT} ${AT}`, null],
  [`true true true 1 52 -1 NA ${AT} ${AT}`, null],
  ["up (pid 52) 12 seconds, ready 11 seconds", null],
];

for (const [line, status] of LINES) {
  test(`${JSON.stringify(line)} is ${status === null ? "no status" : "a status"}`, () => {
    assert.deepEqual(parseStatus(line), status);
  });
}

test("deaths come oldest first; what is none is left out", () => {
  const text = [
    `${AT} exitcode 0`,
    `${AT} signal SIGTERM`,
    "",
    "never exitcode 1",
    `${AT} exitcode`,
    `${AT} exitcode -1`,
    `${AT} exitcode x`,
    `${AT} reason 3`,
    `  ${AT}   exitcode   78  `,
    "",
  ].join("\n");
  assert.deepEqual(parseDeaths(text), [
    { at: MS, code: 0, signal: null },
    { at: MS, code: null, signal: "SIGTERM" },
    { at: MS, code: 78, signal: null },
  ]);
  assert.deepEqual(parseDeaths(""), []);
});
