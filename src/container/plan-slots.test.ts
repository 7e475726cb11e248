import assert from "node:assert/strict";
import { test } from "node:test";
import type { Desired, ObservedFile } from "#supervisor/service-files.ts";
import { type FoundProfile, planSlots, type PlanInput } from "./plan-slots.ts";

const OBSERVED: ObservedFile = {
  pid: null,
  startTime: null,
  state: null,
  desired: null,
  exitReason: null,
  reasons: [],
  platforms: {},
  activeAgents: 0,
  updatedAt: null,
};

interface Stored {
  readonly wish?: Desired;
  readonly mirror?: Desired;
  readonly state?: string;
}

function profile(name: string, { wish, mirror, state }: Stored = {}): FoundProfile {
  const isObserved = mirror !== undefined || state !== undefined;
  return {
    name,
    home: name === "default" ? "/h" : `/h/profiles/${name}`,
    desired:
      wish === undefined
        ? null
        : { desired: wish, at: "2026-05-20T10:00:00.000Z", by: "gateway stop", source: "cli" },
    observed: isObserved ? { ...OBSERVED, state: state ?? null, desired: mirror ?? null } : null,
  };
}

const INPUT: PlanInput = {
  role: "serve",
  supervised: true,
  profile: "default",
  root: "/h",
  dashboard: false,
  gatewayProfiles: null,
  profiles: [profile("default")],
};

const plan = (changes: Partial<PlanInput>): ReturnType<typeof planSlots> =>
  planSlots({ ...INPUT, ...changes });

/** `started running desired`, with `down` where the slot waits. */
function verdict(changes: Partial<PlanInput>, name = "default"): string {
  const { lines, slots } = plan(changes);
  const line = lines.find((entry) => entry.profile === name);
  const slot = slots.find(({ spec }) => spec.kind === "gateway" && spec.profile === name);
  const isDown = slot?.down === true ? " down" : "";
  return `${line?.action} ${line?.desired ?? "none"} ${line?.reason}${isDown}`;
}

const PRIOR: readonly (readonly [Stored, string])[] = [
  [{}, "registered none none down"],
  [{ wish: "running" }, "started running desired"],
  [{ wish: "stopped" }, "registered stopped desired down"],
  [{ wish: "stopped", mirror: "running", state: "running" }, "registered stopped desired down"],
  [{ wish: "running", mirror: "stopped", state: "stopped" }, "started running desired"],
  [{ mirror: "running", state: "stopped" }, "started running desired_state"],
  [{ mirror: "stopped", state: "running" }, "registered stopped desired_state down"],
  [{ state: "running" }, "started running gateway_state"],
  [{ state: "degraded" }, "started running gateway_state"],
  [{ state: "draining" }, "started running gateway_state"],
  [{ state: "stopped" }, "registered stopped gateway_state down"],
  [{ state: "starting" }, "registered none none down"],
  [{ state: "startup_failed" }, "registered none none down"],
  [{ state: "RUNNING" }, "registered none none down"],
];

for (const [stored, expected] of PRIOR) {
  test(`a home with ${JSON.stringify(stored)} is ${expected}`, () => {
    for (const role of ["serve", "command", "supervise"] as const)
      assert.equal(verdict({ role, profiles: [profile("default", stored)] }), expected, role);
  });
}

const COMMANDED: readonly (readonly [Stored, string, writes: boolean, stop: boolean])[] = [
  [{}, "started running command", true, false],
  [{ wish: "running" }, "started running desired", false, false],
  [{ wish: "stopped" }, "registered stopped desired down", false, true],
  [{ mirror: "stopped", state: "running" }, "registered stopped desired_state down", false, true],
  // A gateway that ended says stopped: that is no wish of anybody's.
  [{ state: "stopped" }, "started running command", true, false],
  [{ state: "running" }, "started running command", true, false],
  [{ state: "startup_failed" }, "started running command", true, false],
];

for (const [stored, expected, writes, isStop] of COMMANDED) {
  test(`gateway run over ${JSON.stringify(stored)} is ${expected}`, () => {
    const changes = { role: "gateway", profiles: [profile("default", stored)] } as const;
    assert.equal(verdict(changes), expected);
    const { writesRunning, respectedStop } = plan(changes);
    assert.equal(writesRunning !== null, writes);
    assert.equal(respectedStop !== null, isStop);
  });
}

test("gateway run of one profile leaves the others to their own past", () => {
  const changes = {
    role: "gateway",
    profile: "coder",
    profiles: [profile("default"), profile("coder"), profile("old", { wish: "running" })],
  } as const;
  assert.equal(verdict(changes), "registered none none down");
  assert.equal(verdict(changes, "coder"), "started running command");
  assert.equal(verdict(changes, "old"), "started running desired");
  assert.equal(plan(changes).writesRunning?.name, "coder");
});

test("the gateway of the command itself waits down, only its own", () => {
  const changes = {
    role: "gateway-foreground",
    profiles: [profile("default", { wish: "running" }), profile("b", { wish: "running" })],
  } as const;
  assert.equal(verdict(changes), "registered running foreground down");
  assert.equal(verdict(changes, "b"), "started running desired");
});

test("where the dashboard is the command every slot waits", () => {
  const changes = {
    role: "dashboard",
    dashboard: true,
    profiles: [profile("default", { wish: "running" })],
  } as const;
  assert.equal(verdict(changes), "registered running role-dashboard down");
  assert.equal(plan(changes).slots[0]?.down, true);
});

test("behind another init nothing is said to start", () => {
  const changes = {
    role: "command",
    supervised: false,
    dashboard: true,
    profiles: [profile("default", { wish: "running" })],
  } as const;
  assert.equal(verdict(changes), "registered running not-supervised down");
  assert.deepEqual(
    plan(changes).slots.map(({ down }) => down),
    [true, true],
  );
});

test("only the named profiles start; a name without a profile is missing and replaced by none", () => {
  const changes = {
    gatewayProfiles: ["b", "ghost"],
    profiles: [
      profile("default", { wish: "running" }),
      profile("b", { wish: "running" }),
      profile("c", { wish: "running" }),
    ],
  } as const;
  assert.equal(verdict(changes), "skipped running not-in-HERMES_GATEWAY_PROFILES down");
  assert.equal(verdict(changes, "b"), "started running desired");
  assert.equal(verdict(changes, "c"), "skipped running not-in-HERMES_GATEWAY_PROFILES down");
  assert.equal(verdict(changes, "ghost"), "missing none no-such-profile");
  assert.deepEqual(plan(changes).missing, ["ghost"]);
  assert.equal(plan(changes).slots.length, 4);
});

test("none of the profiles start where the list says none", () => {
  const changes = { gatewayProfiles: [], profiles: [profile("default", { wish: "running" })] };
  assert.equal(verdict(changes), "skipped running not-in-HERMES_GATEWAY_PROFILES down");
});

test("the line tells the state that was stored, wish before record", () => {
  const prior = (stored: Stored): unknown =>
    plan({ profiles: [profile("default", stored)] }).lines[0]?.priorState;
  assert.equal(prior({ wish: "stopped", state: "running" }), "stopped");
  assert.equal(prior({ mirror: "running", state: "stopped" }), "running");
  assert.equal(prior({ state: "draining" }), "draining");
  assert.equal(prior({}), null);
});

for (const [dashboard, down] of [
  [true, false],
  [false, true],
] as const) {
  test(`the dashboard is ${down ? "down and disabled" : "up"} when its switch is ${dashboard}`, () => {
    const [slot] = plan({ dashboard }).slots;
    assert.deepEqual(slot, {
      spec: { schema: 1, kind: "dashboard", profile: "default", home: "/h", enabled: dashboard },
      down,
    });
  });
}
