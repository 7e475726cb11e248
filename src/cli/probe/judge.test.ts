// The table of dashboard.md §13, row by row.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exitOf, judge, needsBody, type ProbeState } from "./judge.ts";
import { TOO_LONG, type Outcome } from "./outcome.ts";

const ASKED = new URL("https://a.example.org/hermes/api/status");
const OURS = '{"version":"1.2.3","auth_required":true,"gateway_state":"running"}';

function answered(status: number, more: Partial<Extract<Outcome, { kind: "answered" }>> = {}) {
  return { kind: "answered", status, location: null, body: "", cut: null, ...more } as const;
}

const failed = (reason: string): Outcome => ({ kind: "failed", reason });
const HIDDEN =
  "something in front hides the status: a wall of another product, or a wrong public list";

type Row = readonly [what: string, outcome: Outcome, state: ProbeState, reason: string | null];

const ROWS: readonly Row[] = [
  ["200 ours", answered(200, { body: OURS }), "running", null],
  ["200 HTML", answered(200, { body: "<!doctype html>" }), "down", "foreign"],
  ["200 empty", answered(200), "down", "foreign"],
  ["200 null", answered(200, { body: "null" }), "down", "foreign"],
  ["200 list", answered(200, { body: `[${OURS}]` }), "down", "foreign"],
  ["200 without version", answered(200, { body: '{"auth_required":true}' }), "down", "foreign"],
  [
    "200, auth_required no boolean",
    answered(200, { body: '{"version":"1","auth_required":1}' }),
    "down",
    "foreign",
  ],
  ["200 too long", answered(200, { body: OURS, cut: TOO_LONG }), "down", "foreign"],
  ["200 that stops", answered(200, { body: '{"ver', cut: "timeout" }), "down", "timeout"],
  ["401", answered(401), "gated", HIDDEN],
  ["403", answered(403), "gated", HIDDEN],
  ["302 /login", answered(302, { location: "/login?next=%2F" }), "gated", HIDDEN],
  ["302 /hermes/login", answered(302, { location: "/hermes/login" }), "gated", HIDDEN],
  ["302 relative login", answered(302, { location: "../login/" }), "gated", HIDDEN],
  [
    "307 other host",
    answered(307, { location: "https://sso.example.org/authorize" }),
    "gated",
    HIDDEN,
  ],
  [
    "302 other host without scheme",
    answered(302, { location: "//sso.example.org/" }),
    "gated",
    HIDDEN,
  ],
  ["302 same host", answered(302, { location: "/elsewhere?to=/login" }), "down", "302"],
  [
    "301 same host, other port",
    answered(301, { location: "https://A.example.org.:8443/x" }),
    "down",
    "301",
  ],
  ["302 catalogin", answered(302, { location: "/catalogin" }), "down", "302"],
  ["302 nowhere", answered(302), "down", "302"],
  ["302 no address", answered(302, { location: "http://[" }), "down", "302"],
  [
    "400 bad_host",
    answered(400, { body: '{"detail":"x","code":"bad_host"}' }),
    "gated",
    "the name is not in dashboard.allowed_hosts",
  ],
  ["400 other", answered(400, { body: '{"detail":"x","code":"bad_path"}' }), "down", "400"],
  ["400 text", answered(400, { body: "bad_host" }), "down", "400"],
  ["404", answered(404), "down", "foreign"],
  ["500", answered(500), "down", "500"],
  ["502", answered(502), "starting", "502"],
  ["503", answered(503), "starting", "503"],
  ["504", answered(504), "starting", "504"],
  ["204", answered(204), "down", "204"],
  ["101", answered(101), "down", "101"],
  ["429", answered(429), "down", "429"],
  ["refused", failed("ECONNREFUSED"), "down", "ECONNREFUSED"],
  ["no such name", failed("ENOTFOUND"), "down", "ENOTFOUND"],
];

for (const [what, outcome, state, reason] of ROWS) {
  test(`${what} is ${state}`, () => {
    const found = judge(outcome, ASKED);
    assert.equal(found.state, state);
    assert.equal(found.reason, reason);
    assert.equal(found.alive, outcome.kind === "answered");
    assert.equal(found.code, outcome.kind === "answered" ? outcome.status : null);
    assert.equal(found.auth_required, state === "running" ? true : null);
  });
}

test("what a running agent says is passed on: short, and only text", () => {
  const say = (more: object) => JSON.stringify({ version: "1", auth_required: false, ...more });
  const gateway = (more: object) => judge(answered(200, { body: say(more) }), ASKED).gateway_state;
  assert.equal(gateway({ gateway_state: "stopped" }), "stopped");
  assert.equal(gateway({ gateway_state: null }), null);
  assert.equal(gateway({ gateway_state: { a: 1 } }), null);
  assert.equal(gateway({}), null);
  const long = judge(answered(200, { body: say({ version: "9".repeat(5000) }) }), ASKED);
  assert.equal(long.version, "9".repeat(100));
  assert.equal(long.auth_required, false);
});

test("only the answers that are judged by their body wait for one", () => {
  const codes = [101, 200, 204, 302, 400, 401, 403, 404, 500, 503];
  assert.deepEqual(codes.filter(needsBody), [200, 400]);
});

const EXITS: readonly (readonly [
  codes: readonly (number | null)[],
  expect: number | null,
  exit: number,
])[] = [
  [[200, 401], null, 0],
  [[200, 503], null, 75],
  [[503, 500], null, 1],
  [[null], null, 1],
  [[401, 401], 401, 0],
  [[401, 200], 401, 1],
  [[500], 500, 0],
  [[null], 200, 1],
];

for (const [codes, expect, exit] of EXITS) {
  test(`exit ${exit} for ${codes.join(", ")}${expect === null ? "" : ` where ${expect} is expected`}`, () => {
    const results = codes.map((code) =>
      judge(code === null ? failed("ECONNREFUSED") : answered(code, { body: OURS }), ASKED),
    );
    assert.equal(exitOf(results, expect), exit);
  });
}
