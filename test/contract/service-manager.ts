// The contract of a ServiceManager (container.md §7.2): every backend and the fake behave like this.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import type { ServiceManager, SlotSpec } from "#supervisor/port.ts";
import { judgeSlot } from "#supervisor/services.ts";
import { FakeLock } from "../kit/fake-lock.ts";
import { until } from "../kit/until.ts";

/** What the program of a slot does at its next start: gets ready, never does, or ends with a code at once. */
export type Play = "ready" | "slow" | number;

export interface Subject {
  readonly manager: ServiceManager;
  /** Home of the profile `default`. */
  readonly root: string;
  play(slot: string, how: Play): void;
}

export interface Backend {
  readonly name: string;
  readonly skip: string | false;
  /** Pids are those of real processes. */
  readonly isReal: boolean;
  open(t: TestContext): Promise<Subject>;
}

const SLOT = "gateway-default";
const HOW = { waitMs: 30_000, by: "gateway start", source: "cli" } as const;

export function serviceManagerContract({ name, skip, isReal, open }: Backend): void {
  const row = (what: string, check: (subject: Subject) => Promise<void>): void => {
    test(`${name}: ${what}`, { skip }, async (t) => check(await open(t)));
  };

  row("nothing is registered at first", async ({ manager }) => {
    assert.deepEqual(await manager.list(), []);
    const facts = await manager.facts(SLOT);
    assert.deepEqual([facts.registered, facts.supervised, facts.up], [false, false, false]);
    assert.deepEqual([facts.spec, facts.pid, facts.deaths], [null, null, []]);
  });

  row("a slot that is registered down is there, supervised, and never ran", async (subject) => {
    const { manager } = subject;
    await register(subject, false);
    assert.deepEqual(await manager.list(), [SLOT]);
    const facts = await manager.facts(SLOT);
    assert.deepEqual([facts.registered, facts.supervised, facts.up], [true, true, false]);
    assert.deepEqual([facts.wantedUp, facts.normallyUp], [false, false]);
    assert.deepEqual(facts.spec, spec(subject));
    assert.equal(await state(subject), "stopped: never started");
    await manager.rescan();
    assert.equal(await state(subject), "stopped: never started");
  });

  row("a slot that is registered up gets ready by itself", async (subject) => {
    await register(subject, true);
    await until("it is ready", async () => (await state(subject)) === "ready", 30_000);
    const { normallyUp, wantedUp, answers } = await subject.manager.facts(SLOT);
    assert.deepEqual([normallyUp, wantedUp, answers], [true, true, true]);
  });

  row("a slot is registered once; the second time changes nothing", async (subject) => {
    await register(subject, false);
    const { pid } = await subject.manager.start(SLOT, HOW);
    await assert.rejects(register(subject, false), { serviceCode: "already-registered", exit: 1 });
    assert.deepEqual(await subject.manager.list(), [SLOT]);
    assert.equal((await subject.manager.facts(SLOT)).pid, pid);
  });

  row("start, again, restart, stop, again", async (subject) => {
    const { manager } = subject;
    await register(subject, false);
    const started = await manager.start(SLOT, HOW);
    assert.deepEqual([started.name, started.state, started.desired], [SLOT, "ready", "running"]);
    assert.equal((await manager.start(SLOT, HOW)).pid, started.pid);
    const again = await manager.restart(SLOT, HOW);
    assert.equal(again.state, "ready");
    assert.notEqual(again.pid, started.pid);
    // A restart that was asked for is no death.
    assert.deepEqual([again.restarts, again.last_exit?.code], [0, 75]);
    const stopped = await manager.stop(SLOT, { ...HOW, by: "gateway stop" });
    assert.deepEqual([stopped.state, stopped.desired, stopped.pid], ["stopped", "stopped", null]);
    const facts = await manager.facts(SLOT);
    assert.deepEqual([facts.up, facts.wantedUp, facts.normallyUp], [false, false, false]);
    if (isReal) assert.equal(processStartTime(again.pid ?? 0), null);
    assert.equal((await manager.stop(SLOT, HOW)).state, "stopped");
    assert.equal((await manager.restart(SLOT, HOW)).state, "ready");
  });

  row("start and stop write who wanted what through which door", async (subject) => {
    const { manager } = subject;
    await register(subject, false);
    await manager.start(SLOT, HOW);
    assert.deepEqual(wish(subject), ["running", "gateway start", "cli"]);
    await manager.restart(SLOT, { ...HOW, by: "restart button", source: "dashboard" });
    assert.deepEqual(wish(subject), ["running", "restart button", "dashboard"]);
    await manager.stop(SLOT, { ...HOW, by: "POST /stop", source: "api" });
    assert.deepEqual(wish(subject), ["stopped", "POST /stop", "api"]);
  });

  row("a dashboard is controlled alike, and no wish is stored for it", async (subject) => {
    const { manager, root } = subject;
    const own = {
      schema: 1,
      kind: "dashboard",
      profile: "default",
      home: root,
      enabled: true,
    } as const;
    await manager.register(own, { start: false });
    assert.equal((await manager.start("dashboard", HOW)).state, "ready");
    assert.equal((await manager.stop("dashboard", HOW)).state, "stopped");
    assert.equal(existsSync(join(root, "gateway_desired.json")), false);
  });

  for (const code of [78, 64]) {
    row(
      `a program that ends with ${code} is refused until somebody changes something`,
      async (subject) => {
        const { manager } = subject;
        await register(subject, false);
        subject.play(SLOT, code);
        await assert.rejects(manager.start(SLOT, HOW), { serviceCode: "refused", exit: 78 });
        assert.match(await state(subject), /^refused: /u);
        const { wantedUp, deaths } = await manager.facts(SLOT);
        assert.deepEqual([wantedUp, deaths.length, deaths.at(-1)?.code], [false, 1, code]);
        await assert.rejects(manager.restart(SLOT, HOW), { serviceCode: "refused", exit: 78 });
        subject.play(SLOT, "ready");
        assert.equal((await manager.start(SLOT, HOW)).state, "ready");
      },
    );
  }

  row("a program that crashes again and again fails the start", async (subject) => {
    const { manager } = subject;
    await register(subject, false);
    subject.play(SLOT, 3);
    await assert.rejects(manager.start(SLOT, HOW), { serviceCode: "crash-looping", exit: 1 });
    assert.match(await state(subject), /^crash-looping: exit 3/u);
    assert.equal((await manager.stop(SLOT, HOW)).state, "stopped");
  });

  row("a program that ends by itself stays down", async (subject) => {
    const { manager } = subject;
    await register(subject, false);
    subject.play(SLOT, 0);
    await assert.rejects(manager.start(SLOT, { ...HOW, waitMs: 1500 }), { serviceCode: "timeout" });
    assert.equal(await state(subject), "stopped: ended by itself");
  });

  row(
    "a program that is not ready in time is still starting, and can be stopped",
    async (subject) => {
      const { manager } = subject;
      await register(subject, false);
      subject.play(SLOT, "slow");
      await assert.rejects(manager.start(SLOT, { ...HOW, waitMs: 500 }), {
        serviceCode: "timeout",
        exit: 75,
      });
      assert.equal(await state(subject), "starting");
      assert.equal((await manager.stop(SLOT, HOW)).state, "stopped");
    },
  );

  row(
    "a slot that is unregistered while it runs leaves nothing, and can come again",
    async (subject) => {
      const { manager } = subject;
      await register(subject, false);
      const { pid } = await manager.start(SLOT, HOW);
      await manager.unregister(SLOT);
      assert.deepEqual(await manager.list(), []);
      assert.equal((await manager.facts(SLOT)).registered, false);
      if (isReal) assert.equal(processStartTime(pid ?? 0), null);
      await manager.unregister(SLOT);
      await register(subject, false);
      assert.equal(await state(subject), "stopped: never started");
    },
  );

  row(
    "what is not registered is not controlled, and nothing is wished for it",
    async ({ manager, root }) => {
      for (const action of ["start", "stop", "restart"] as const) {
        await assert.rejects(
          manager[action](SLOT, HOW),
          { serviceCode: "not-registered", exit: 66 },
          action,
        );
      }
      assert.equal(existsSync(join(root, "gateway_desired.json")), false);
    },
  );

  row("a name that is none is refused as such, everywhere", async (subject) => {
    const { manager } = subject;
    for (const bad of ["gateway-../x", "gateway-A", "", "other", "gateway-"]) {
      for (const action of ["start", "stop", "restart"] as const)
        await rejectsName(manager[action](bad, HOW), `${action} ${bad}`);
      await rejectsName(manager.unregister(bad), `unregister ${bad}`);
      await rejectsName(manager.facts(bad), `facts ${bad}`);
    }
    for (const profile of ["../x", "A", ""])
      await rejectsName(manager.register({ ...spec(subject), profile }, { start: false }), profile);
    assert.deepEqual(await manager.list(), []);
  });

  row("a wish that cannot be written starts nothing", async (subject) => {
    const { manager, root } = subject;
    await register(subject, false);
    rmSync(root, { recursive: true });
    await assert.rejects(manager.start(SLOT, HOW), { code: "ENOENT" });
    const { up, wantedUp } = await manager.facts(SLOT);
    assert.deepEqual([up, wantedUp], [false, false]);
  });
}

const spec = ({ root }: Subject): SlotSpec => ({
  schema: 1,
  kind: "gateway",
  profile: "default",
  home: root,
  enabled: true,
});

const register = (subject: Subject, start: boolean): Promise<void> =>
  subject.manager.register(spec(subject), { start });

/** As every surface shows it, without the time of a wish. */
async function state({ manager, root }: Subject): Promise<string> {
  const body = judgeSlot({ root, lock: new FakeLock() }, await manager.facts(SLOT));
  const text = body.reason === null ? body.state : `${body.state}: ${body.reason}`;
  return text.replace(/ \d{4}-\d\d-\d\dT[\d:.]+Z$/u, "");
}

function wish({ root }: Subject): readonly unknown[] {
  const { desired, by, source } = JSON.parse(
    readFileSync(join(root, "gateway_desired.json"), "utf8"),
  ) as Record<string, unknown>;
  return [desired, by, source];
}

const rejectsName = (done: Promise<unknown>, what: string): Promise<void> =>
  assert.rejects(done, { serviceCode: "invalid-name", exit: 64 }, what);
