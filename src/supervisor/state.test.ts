// The table of container.md §8, row by row, and every fault that a row stands for.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Death, SlotFacts } from "./port.ts";
import type { DesiredRecord, LastError, ObservedFile } from "./service-files.ts";
import {
  allDeaths,
  exitText,
  type LockFacts,
  nextStartAt,
  recentDeaths,
  serviceState,
  type StateInput,
  unsupervisedState,
} from "./state.ts";

const NOW = Date.UTC(2026, 4, 20, 10, 0, 0);
const SECOND = 1000;

const ready: SlotFacts = {
  slot: "gateway-default",
  kind: "gateway",
  profile: "default",
  registered: true,
  supervised: true,
  up: true,
  wantedUp: true,
  normallyUp: true,
  ready: true,
  finishing: false,
  registeredAt: NOW - 3600 * SECOND,
  pid: 52,
  exitCode: null,
  signal: null,
  changedAt: NOW - 60 * SECOND,
  readyAt: NOW - 59 * SECOND,
  deaths: [],
  backoff: null,
  askedAt: null,
  answers: true,
  spec: { schema: 1, kind: "gateway", profile: "default", home: "/opt/data", enabled: true },
  lastError: null,
};

/** Down, and nobody wants it up; its finish script has ended, for which s6 says ready. */
const down: SlotFacts = {
  ...ready,
  up: false,
  wantedUp: false,
  pid: null,
  exitCode: 0,
  readyAt: NOW - 60 * SECOND,
  answers: null,
};

const waiting: SlotFacts = { ...down, wantedUp: true };

const dashboard = (enabled: boolean, facts: SlotFacts): SlotFacts => ({
  ...facts,
  slot: "dashboard",
  kind: "dashboard",
  spec: { schema: 1, kind: "dashboard", profile: "default", home: "/opt/data", enabled },
});

const exit = (code: number, secondsAgo = 1): Death => ({
  at: NOW - secondsAgo * SECOND,
  code,
  signal: null,
});
const killed = (signal: string, secondsAgo = 1): Death => ({
  at: NOW - secondsAgo * SECOND,
  code: null,
  signal,
});
const crashes = (...secondsAgo: readonly number[]): readonly Death[] =>
  secondsAgo.map((seconds) => exit(1, seconds));

const running: DesiredRecord = { desired: "running", at: null, by: null, source: null };
const stopped: DesiredRecord = {
  desired: "stopped",
  at: "2026-05-20T09:00:00.000Z",
  by: "gateway stop",
  source: "cli",
};
const foreign: LockFacts = { held: true, holder: "foreign", holderName: "pid 12 on other" };
const unseen: LockFacts = { ...foreign, holder: "unseen" };
const unreadable: LockFacts = { held: true, holder: "unreadable", holderName: null };
const free: LockFacts = { held: false, holder: null, holderName: null };

const observed = (state: string | null, more: Partial<ObservedFile> = {}): ObservedFile => ({
  pid: 52,
  startTime: "99",
  state,
  desired: null,
  exitReason: null,
  reasons: [],
  platforms: {},
  activeAgents: 0,
  updatedAt: 0,
  ...more,
});

const lastError: LastError = {
  code: "CONFIG_INVALID",
  message: "model.provider=nosuch is not known.\nMore.",
  ways_out: ["Set another one."],
  setting: "model.provider",
  at: "",
  pid: 7,
};

type Row = readonly [
  row: number,
  what: string,
  facts: SlotFacts,
  verdict: string,
  more?: Partial<StateInput>,
];

const valid = (record: ObservedFile): Partial<StateInput> => ({
  observed: record,
  observedIsValid: true,
});

const ROWS: readonly Row[] = [
  [1, "a dashboard that is off", dashboard(false, down), "disabled: HERMES_DASHBOARD is off"],
  [
    1,
    "off, its supervisor gone as well",
    dashboard(false, { ...down, supervised: false }),
    "disabled: HERMES_DASHBOARD is off",
  ],
  [1, "off, although something runs in it", dashboard(false, ready), "ready"],
  [
    1,
    "a dashboard that is on and was never started",
    dashboard(true, down),
    "stopped: never started",
  ],
  [2, "no slot", { ...down, registered: false, supervised: false }, "stopped: not registered"],
  [
    3,
    "no supervisor 4.9 s after registration",
    { ...down, supervised: false, registeredAt: NOW - 4900 },
    "starting: waiting for its supervisor",
  ],
  [
    3,
    "no supervisor 5 s after registration",
    { ...down, supervised: false, registeredAt: NOW - 5000 },
    "unknown: supervisor missing",
  ],
  [
    3,
    "no supervisor, and when it was registered cannot be told",
    { ...down, supervised: false, registeredAt: null },
    "unknown: supervisor missing",
  ],
  [4, "TERM was sent", { ...ready, wantedUp: false }, "stopping"],
  [
    4,
    "TERM was sent to one that crashed before",
    { ...ready, ready: false, wantedUp: false, backoff: { n: 9, until: 0 } },
    "stopping",
  ],
  [
    5,
    "the third death in a row, waiting",
    { ...ready, ready: false, backoff: { n: 3, until: NOW + 4000 }, deaths: [killed("SIGSEGV")] },
    "crash-looping: killed by SIGSEGV; next start at 2026-05-20T10:00:04.000Z",
  ],
  [
    5,
    "three deaths within 60 s, none of them counted",
    { ...waiting, deaths: crashes(59, 30, 1) },
    "crash-looping: exit 1",
  ],
  [
    5,
    "two deaths within 60 s and one of 60 s ago",
    { ...waiting, deaths: crashes(60, 30, 1) },
    "starting: restarting after exit 1",
  ],
  [
    5,
    "restarts that were asked for are no deaths",
    { ...waiting, deaths: [exit(75, 3), exit(75, 2), exit(75, 1)] },
    "starting: restarting after exit 75",
  ],
  [
    5,
    "started anew by its operator after three deaths",
    {
      ...ready,
      readyAt: NOW - SECOND,
      askedAt: NOW - 3 * SECOND,
      deaths: [...crashes(30, 20, 15), exit(75, 2)],
    },
    "ready",
  ],
  [
    5,
    "asked to restart itself after three deaths",
    { ...ready, readyAt: NOW - SECOND, deaths: [...crashes(30, 20, 15), exit(75, 2)] },
    "crash-looping: exit 1",
  ],
  [
    5,
    "three more deaths after its operator started it anew",
    { ...waiting, askedAt: NOW - 30 * SECOND, deaths: crashes(40, 9, 5, 1) },
    "crash-looping: exit 1",
  ],
  [
    5,
    "ready after two deaths, a refusal and an end by itself, which are no crashes",
    {
      ...ready,
      readyAt: NOW - SECOND,
      deaths: [...crashes(30, 20), exit(78, 10), exit(64, 6), exit(0, 2)],
    },
    "ready",
  ],
  [
    5,
    "ready for 9.9 s after deaths",
    { ...ready, readyAt: NOW - 9900, deaths: crashes(30, 20, 15) },
    "crash-looping: exit 1",
  ],
  [
    5,
    "ready for 10 s after deaths",
    { ...ready, readyAt: NOW - 10_000, deaths: crashes(30, 20, 15) },
    "ready",
  ],
  [
    5,
    "ready for 10 s, the counter not yet taken back",
    { ...ready, backoff: { n: 5, until: 0 } },
    "ready",
  ],
  [
    5,
    "nobody wants it up any more",
    { ...down, backoff: { n: 9, until: NOW + 60_000 }, deaths: crashes(9, 5, 1) },
    "stopped: exit 1",
  ],
  [
    6,
    "between death and start",
    { ...waiting, deaths: [exit(3)] },
    "starting: restarting after exit 3",
  ],
  [6, "wanted up, never ran", waiting, "starting"],
  [
    6,
    "its finish script runs",
    { ...waiting, ready: false, finishing: true, deaths: [exit(3)] },
    "starting: restarting after exit 3",
  ],
  [7, "not ready yet", { ...ready, ready: false, changedAt: NOW - 60_000 }, "starting"],
  [
    7,
    "not ready for more than 60 s",
    { ...ready, ready: false, changedAt: NOW - 60_001 },
    "starting: slow start",
  ],
  [8, "it hangs", { ...ready, answers: false }, "unknown: does not answer"],
  [
    8,
    "it hangs while its record says draining",
    { ...ready, answers: false },
    "unknown: does not answer",
    valid(observed("draining")),
  ],
  [9, "it drains", ready, "stopping: draining", valid(observed("draining"))],
  [
    9,
    "a record of another process says draining",
    ready,
    "ready",
    { observed: observed("draining") },
  ],
  [
    10,
    "it is degraded",
    ready,
    "degraded: telegram: no answer; cron: off",
    valid(observed("degraded", { reasons: ["telegram: no answer", "cron: off"] })),
  ],
  [
    10,
    "it is degraded and does not say why",
    ready,
    "degraded: degraded",
    valid(observed("degraded")),
  ],
  [11, "it is ready without a record", ready, "ready"],
  [11, "its record still says starting", ready, "ready", valid(observed("starting"))],
  [11, "a stop is stored, yet it runs", ready, "ready", { desired: stopped }],
  [
    12,
    "down, its finish script runs",
    { ...down, ready: false, finishing: true, deaths: [exit(78)] },
    "stopping",
  ],
  [
    13,
    "it refused, and said why",
    { ...down, deaths: [exit(78)], lastError },
    "refused: model.provider=nosuch is not known.",
  ],
  [
    13,
    "it refused with a usage error",
    { ...down, deaths: [exit(64)], lastError },
    "refused: model.provider=nosuch is not known.",
    { desired: running },
  ],
  [
    13,
    "it refused without a word",
    { ...down, deaths: [exit(78)] },
    "refused: it refused its configuration; its log says why",
  ],
  [
    13,
    "it refused, then was stopped",
    { ...down, deaths: [exit(78)], lastError },
    "stopped: stopped by gateway stop 2026-05-20T09:00:00.000Z",
    { desired: stopped },
  ],
  [
    13,
    "it refused once, its last end was another",
    { ...down, deaths: [exit(78, 9), exit(0)], lastError },
    "stopped: ended by itself",
  ],
  [
    13,
    "s6 names a code that the tally does not know",
    { ...down, exitCode: 78 },
    "stopped: never started",
  ],
  [
    14,
    "another container has the home",
    down,
    "unknown: held by pid 12 on other",
    { lock: unseen },
  ],
  [14, "a process that we see has it", down, "unknown: held by pid 12 on other", { lock: foreign }],
  [
    14,
    "the holder is not known",
    down,
    "unknown: held by another process",
    { lock: { ...unseen, holderName: null } },
  ],
  [
    14,
    "nobody may read who holds it",
    down,
    "unknown: its home cannot be read",
    { lock: unreadable },
  ],
  [
    14,
    "it runs elsewhere and answers",
    down,
    "ready: held by pid 12 on other",
    { lock: unseen, remote: "up" },
  ],
  [
    14,
    "it runs elsewhere and does not answer",
    down,
    "unknown: held by pid 12 on other; GATEWAY_HEALTH_URL does not answer",
    { lock: unseen, remote: "down" },
  ],
  [
    14,
    "held elsewhere outweighs a stored stop",
    down,
    "unknown: held by pid 12 on other",
    { lock: unseen, desired: stopped },
  ],
  [
    14,
    "a lock of our own is no other's",
    down,
    "stopped: never started",
    { lock: { held: true, holder: "ours", holderName: null } },
  ],
  [
    14,
    "a dashboard has no home lock",
    dashboard(true, down),
    "stopped: never started",
    { lock: unseen },
  ],
  [
    15,
    "its operator stopped it",
    { ...down, deaths: [exit(75)] },
    "stopped: stopped by gateway stop 2026-05-20T09:00:00.000Z",
    { desired: stopped, lock: free },
  ],
  [
    15,
    "a stop that does not say by whom",
    down,
    "stopped: stopped",
    { desired: { ...stopped, by: null, at: null } },
  ],
  [16, "it never ran: s6 prints exit code 0", down, "stopped: never started", { desired: running }],
  [
    17,
    "it ended by itself",
    { ...down, deaths: [exit(0)] },
    "stopped: ended by itself",
    { desired: running },
  ],
  [17, "it was killed", { ...down, deaths: [killed("SIGKILL")] }, "stopped: killed by SIGKILL"],
  [17, "it died", { ...down, deaths: [exit(3)] }, "stopped: exit 3"],
];

const text = ({ state, reason }: { state: string; reason: string | null }): string =>
  reason === null ? state : `${state}: ${reason}`;

for (const [row, what, facts, verdict, more] of ROWS) {
  test(`row ${row}: ${what}`, () => {
    const input: StateInput = {
      facts,
      desired: null,
      observed: null,
      observedIsValid: false,
      lock: null,
      remote: null,
      now: NOW,
      ...more,
    };
    assert.equal(text(serviceState(input)), verdict);
  });
}

test("every row of the table has a case", () => {
  assert.deepEqual(
    [...new Set(ROWS.map(([row]) => row))],
    Array.from({ length: 17 }, (_, index) => index + 1),
  );
});

type Unsupervised = Omit<StateInput, "facts">;

const ALONE: readonly (readonly [what: string, input: Partial<Unsupervised>, verdict: string])[] = [
  ["lock free, whatever files say", { observed: observed("running") }, "stopped"],
  ["lock free and stopped by its operator", { desired: stopped }, "stopped: stopped"],
  ["running", { lock: foreign, ...valid(observed("running")) }, "ready"],
  [
    "degraded",
    { lock: foreign, ...valid(observed("degraded", { reasons: ["x"] })) },
    "degraded: x",
  ],
  ["draining", { lock: foreign, ...valid(observed("draining")) }, "stopping"],
  ["its last words", { lock: foreign, ...valid(observed("stopped")) }, "stopping"],
  [
    "it failed to start",
    { lock: foreign, ...valid(observed("startup_failed", { exitReason: "port taken" })) },
    "stopping: port taken",
  ],
  ["starting", { lock: foreign, ...valid(observed("starting")) }, "starting"],
  ["a word that nobody knows", { lock: foreign, ...valid(observed("dancing")) }, "starting"],
  ["no word", { lock: foreign, ...valid(observed(null)) }, "starting"],
  ["held by a process that is not seen", { lock: unseen }, "unknown: held by pid 12 on other"],
  [
    "a record that is not the holder's",
    { lock: unseen, observed: observed("running") },
    "unknown: held by pid 12 on other",
  ],
  ["held elsewhere, answers", { lock: unseen, remote: "up" }, "ready: held by pid 12 on other"],
  ["its home is closed to us", { lock: unreadable }, "unknown: its home cannot be read"],
  ["our own lock, no record yet", { lock: { ...unseen, holder: "ours" } }, "starting"],
];

for (const [what, input, verdict] of ALONE) {
  test(`without a supervisor: ${what}`, () => {
    const whole: Unsupervised = {
      desired: null,
      observed: null,
      observedIsValid: false,
      lock: free,
      remote: null,
      now: NOW,
      ...input,
    };
    assert.equal(text(unsupervisedState(whole)), verdict);
  });
}

test("deaths are counted without restarts that were asked for", () => {
  const facts = {
    ...down,
    deaths: [exit(1, 100), exit(75, 50), killed("SIGTERM", 40), exit(0, 1)],
  };
  assert.equal(allDeaths(facts), 3);
  assert.equal(recentDeaths(facts, NOW), 2);
});

test("the next start is told while it is waited for, only then", () => {
  const backoff = { n: 4, until: NOW + 8000 };
  const rows: readonly (readonly [SlotFacts, number | null])[] = [
    [{ ...ready, ready: false, backoff }, NOW + 8000],
    // s6's own second, before the script that waits: s6 says ready of a finish script that has ended.
    [{ ...waiting, backoff }, NOW + 8000],
    [{ ...ready, backoff }, null],
    [{ ...down, backoff }, null],
    [{ ...waiting, backoff: { n: 4, until: NOW } }, null],
    [waiting, null],
  ];
  for (const [facts, expected] of rows) assert.equal(nextStartAt({ facts, now: NOW }), expected);
});

test("an end without code or signal still reads as one", () => {
  assert.equal(exitText(null), null);
  assert.equal(exitText({ at: NOW, code: null, signal: null }), "exit unknown");
});
