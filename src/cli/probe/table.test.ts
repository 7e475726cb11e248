import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbeResult } from "./judge.ts";
import { tableHead, tableRow, tally, urlWidth } from "./table.ts";

const RUNNING: ProbeResult = {
  url: "http://a.example",
  alive: true,
  state: "running",
  code: 200,
  auth_required: true,
  version: "1.2.3",
  gateway_state: "stopped",
  ms: 12,
  reason: null,
};

const paint = (_style: unknown, text: string): string => text;

function cells(result: ProbeResult): string[] {
  return tableRow(result, 20, paint).split(/ {2,}/);
}

test("each cell stands below its heading", () => {
  const [head, row] = [tableHead(20), tableRow(RUNNING, 20, paint)];
  const pairs = [
    ["URL", "http://a"],
    ["STATE", "running"],
    ["CODE", "200"],
    ["LOGIN", "yes"],
    ["GATEWAY", "stopped"],
    ["VERSION", "1.2.3"],
    ["MS", "12"],
  ] as const;
  for (const [name, value] of pairs) assert.equal(row.indexOf(value), head.indexOf(name), name);
});

test("reasons in words", () => {
  const none = { auth_required: null, version: null, gateway_state: null };
  const foreign = { ...RUNNING, ...none, state: "down", reason: "foreign" } as const;
  assert.match(cells(foreign).join("|"), /\|12\|foreign: another server answers there$/);
  const starting = { ...foreign, state: "starting", code: 503, reason: "503" } as const;
  assert.match(cells(starting).at(-1) ?? "", /^503: what is in front answers, the agent not yet$/);
  const refused = { ...foreign, alive: false, code: null, reason: "ECONNREFUSED" } as const;
  assert.deepEqual(cells(refused).slice(1), "down - - - - 12 ECONNREFUSED".split(" "));
});

test("a foreign server's text cannot steer the terminal or start a line", () => {
  const text = tableRow(
    { ...RUNNING, version: "\u001b[2J1\n2\u009b", gateway_state: "\u202ex" },
    20,
    paint,
  );
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u202e]/);
  assert.match(text, /\[2J1 2/);
});

test("the first column is as wide as the longest address, within reason", () => {
  assert.equal(urlWidth(["http://a", "http://abc"]), 10);
  assert.equal(urlWidth([`http://${"a".repeat(200)}`]), 60);
});

test("tally", () => {
  assert.equal(
    tally([RUNNING, { ...RUNNING, state: "down" }, RUNNING]),
    "3 agents: 2 running, 1 down",
  );
});
