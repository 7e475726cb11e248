// What systemd 252 printed of a unit in each of its states, and the facts that the one judge is given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceState } from "../state.ts";
import { factsOfUnit, parseUnitStatus } from "./status.ts";

const WALL = 1_796_098_100_000;
const NOW = { wallMs: WALL, monotonicMs: 1_000_000 };
/** Microseconds of CLOCK_MONOTONIC, so many seconds ago. */
const ago = (seconds: number): string => String((NOW.monotonicMs - seconds * 1000) * 1000);

interface Shown {
  readonly active: string;
  readonly sub?: string;
  readonly pid?: number;
  readonly code?: number;
  readonly status?: number;
  readonly restarts?: number;
  readonly started?: number;
  readonly ended?: number;
  readonly load?: string;
}

function show(given: Shown): string {
  const { active, sub = "running", pid = 0, code = 0, status = 0, restarts = 0 } = given;
  return `MainPID=${pid}
NRestarts=${restarts}
ExecMainStartTimestampMonotonic=${given.started === undefined ? 0 : ago(given.started)}
ExecMainExitTimestampMonotonic=${given.ended === undefined ? 0 : ago(given.ended)}
ExecMainCode=${code}
ExecMainStatus=${status}
LoadState=${given.load ?? "loaded"}
ActiveState=${active}
SubState=${sub}
UnitFileState=enabled
StateChangeTimestampMonotonic=${ago(given.ended ?? given.started ?? 0)}
`;
}

interface Row {
  readonly what: string;
  readonly shown: Shown;
  readonly ready?: boolean;
  readonly state: string;
  readonly reason?: RegExp;
}

const ROWS: readonly Row[] = [
  {
    what: "running",
    shown: { active: "active", pid: 7, started: 60 },
    ready: true,
    state: "ready",
  },
  { what: "not ready yet", shown: { active: "active", pid: 7, started: 2 }, state: "starting" },
  {
    what: "for more than a minute not ready",
    shown: { active: "active", pid: 7, started: 61 },
    state: "starting",
    reason: /^slow start$/u,
  },
  {
    what: "told to stop",
    shown: { active: "deactivating", sub: "stop-sigterm", pid: 7, started: 9 },
    ready: true,
    state: "stopping",
  },
  {
    what: "cleaning up",
    shown: { active: "deactivating", sub: "final-sigterm", code: 1, started: 9, ended: 0.1 },
    state: "stopping",
  },
  {
    what: "never started",
    shown: { active: "inactive", sub: "dead" },
    state: "stopped",
    reason: /never started/u,
  },
  {
    what: "ended by itself",
    shown: { active: "inactive", sub: "dead", code: 1, started: 9, ended: 1 },
    state: "stopped",
    reason: /ended by itself/u,
  },
  {
    what: "refused",
    shown: { active: "failed", sub: "failed", code: 1, status: 78, started: 9, ended: 8 },
    state: "refused",
  },
  {
    what: "died once",
    shown: {
      active: "activating",
      sub: "auto-restart",
      code: 1,
      status: 3,
      started: 2,
      ended: 0.5,
    },
    state: "starting",
    reason: /after exit 3/u,
  },
  {
    what: "killed for the third time",
    shown: {
      active: "activating",
      sub: "auto-restart",
      code: 2,
      status: 9,
      restarts: 2,
      started: 2,
      ended: 0.5,
    },
    state: "crash-looping",
    reason: /^killed by SIGKILL; next start at 2026-12-01T/u,
  },
  {
    what: "dumped core for the third time",
    shown: {
      active: "activating",
      sub: "auto-restart",
      code: 3,
      status: 6,
      restarts: 2,
      started: 2,
      ended: 0.5,
    },
    state: "crash-looping",
    reason: /SIGABRT/u,
  },
  {
    what: "up again after three deaths",
    shown: { active: "active", pid: 7, restarts: 3, started: 1 },
    ready: true,
    state: "crash-looping",
  },
  {
    what: "up again and well for ten seconds",
    shown: { active: "active", pid: 7, restarts: 3, started: 11 },
    ready: true,
    state: "ready",
  },
  {
    what: "died again after more than a minute",
    shown: {
      active: "activating",
      sub: "auto-restart",
      code: 1,
      status: 3,
      restarts: 5,
      started: 70,
      ended: 0.5,
    },
    state: "starting",
  },
  {
    what: "restarts itself as it was asked to",
    shown: {
      active: "activating",
      sub: "auto-restart",
      code: 1,
      status: 75,
      restarts: 9,
      started: 5,
      ended: 0.5,
    },
    state: "starting",
    reason: /after exit 75/u,
  },
  {
    what: "no such unit",
    shown: { active: "inactive", load: "not-found" },
    state: "stopped",
    reason: /not registered/u,
  },
];

for (const { what, shown, ready = false, state, reason } of ROWS) {
  test(`a unit that is ${what}: ${state}`, () => {
    const status = parseUnitStatus(show(shown), NOW);
    const facts = factsOfUnit(status, {
      id: { kind: "gateway", profile: "coder" },
      home: "/home/a",
      ready,
      nowMs: WALL,
      lastError: null,
    });
    const verdict = serviceState({
      facts,
      desired: null,
      observed: null,
      observedIsValid: false,
      lock: null,
      remote: null,
      now: WALL,
    });
    assert.equal(verdict.state, state);
    if (reason) assert.match(verdict.reason ?? "", reason);
  });
}

test("stamps are moments of this clock", () => {
  const status = parseUnitStatus(show({ active: "active", pid: 7, started: 2.5 }), NOW);
  assert.deepEqual([status.startedAt, status.endedAt, status.pid], [WALL - 2500, null, 7]);
});

for (const text of ["", "garbage", "MainPID=\nNRestarts=-1\nLoadState", "=\n=x"]) {
  test(`${JSON.stringify(text)} is a unit that is not there`, () => {
    assert.deepEqual(parseUnitStatus(text, NOW), {
      loaded: false,
      active: "unknown",
      isWaiting: false,
      enabled: false,
      pid: null,
      exitCode: null,
      signal: null,
      restarts: 0,
      changedAt: null,
      startedAt: null,
      endedAt: null,
    });
  });
}
