// Slots on real s6 with the scripts of the image (container.md §2.7, §6.4, §6.5, §7.3): what dies, what comes back, what is kept.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import type { ServiceManager, SlotFacts } from "#supervisor/port.ts";
import { noS6 } from "../kit/s6-gateways.ts";
import { gatewaySpec, openS6Ring, type S6Ring } from "../kit/s6-ring.ts";
import { until } from "../kit/until.ts";

const skip = noS6 ?? false;
const SLOT = "gateway-default";
const HOW = { waitMs: 30_000, by: "test", source: "cli" } as const;
const LONG_MS = 60_000;
/** Neither root nor the user whose slots they are. */
const THIRD = 65_533;

const register = (ring: S6Ring, profile = "default"): Promise<void> =>
  ring.manager.register(gatewaySpec(ring.root, profile), { start: false });

/** Once the condition holds. */
function facts(
  manager: ServiceManager,
  what: string,
  condition: (facts: SlotFacts) => boolean,
): Promise<SlotFacts> {
  return until(
    what,
    async () => {
      const found = await manager.facts(SLOT);
      return condition(found) ? found : null;
    },
    LONG_MS,
  );
}

interface Process {
  readonly pid: number;
  readonly words: readonly string[];
}

/** Supervisors of slots below this directory: their directory is their working directory. */
function supervisors(scandir: string): readonly Process[] {
  return readdirSync("/proc").flatMap((name): readonly Process[] => {
    try {
      if (!/^\d+$/u.test(name)) return [];
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").slice(0, -1);
      const environment = readFileSync(`/proc/${name}/environ`, "utf8");
      const isOurs = environment.includes(join(scandir, "..", "plays"));
      return isOurs && words[0] === "s6-supervise" ? [{ pid: Number(name), words }] : [];
    } catch {
      return [];
    }
  });
}

test(
  "kill -9 of a ready slot: another one is ready, and the death is told",
  { skip },
  async (t) => {
    const ring = await openS6Ring(t);
    await register(ring);
    const { pid } = await ring.manager.start(SLOT, HOW);
    process.kill(pid ?? 0, "SIGKILL");
    const after = await facts(
      ring.manager,
      "another is ready",
      (now) => now.ready && now.pid !== pid,
    );
    assert.deepEqual(
      after.deaths.map(({ code, signal }) => [code, signal]),
      [[null, "SIGKILL"]],
    );
    assert.equal(after.backoff?.n, 1);
    // An explicit restart forgets it.
    await ring.manager.restart(SLOT, HOW);
    assert.equal((await ring.manager.facts(SLOT)).backoff, null);
  },
);

test(
  "deaths in a row: gaps grow, a stop meanwhile is at once, other slots never notice",
  { skip },
  async (t) => {
    const ring = await openS6Ring(t);
    await register(ring);
    await register(ring, "other");
    const other = await ring.manager.start("gateway-other", HOW);
    ring.play(SLOT, "exit 3");
    await assert.rejects(ring.manager.start(SLOT, HOW), { serviceCode: "crash-looping" });
    // The fourth waits 8 s: time enough to be stopped in between.
    await facts(
      ring.manager,
      "it waits after its fourth death",
      ({ up, backoff }) => up && backoff?.n === 4,
    );
    const starts = ring.starts(SLOT);
    assert.equal(starts.length, 4);
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    // s6's own second, then 0, 2, 4 s more; uptime counts whole seconds.
    for (const [index, least] of [900, 1900, 3900].entries())
      assert.ok((gaps[index] ?? 0) >= least, `gap ${index} of ${gaps.join(", ")} ms`);
    const before = performance.now();
    const stopped = await ring.manager.stop(SLOT, HOW);
    const tookMs = performance.now() - before;
    assert.equal(stopped.state, "stopped");
    assert.ok(tookMs < 5000, `${tookMs} ms, 8 s were left to wait`);
    const unhurt = await ring.manager.facts("gateway-other");
    assert.deepEqual([unhurt.pid, unhurt.ready, unhurt.deaths], [other.pid, true, []]);
  },
);

test("one that does not heed TERM is killed when its time is over", { skip }, async (t) => {
  const ring = await openS6Ring(t, { timeoutKillMs: 1000 });
  await register(ring);
  ring.play(SLOT, "stay");
  const { pid } = await ring.manager.start(SLOT, HOW);
  const stopped = await ring.manager.stop(SLOT, HOW);
  assert.deepEqual([stopped.state, stopped.last_exit?.signal], ["stopped", "SIGKILL"]);
  assert.equal(processStartTime(pid ?? 0), null);
});

test("s6's own commands do what the manager tells afterwards", { skip }, async (t) => {
  const ring = await openS6Ring(t);
  await register(ring);
  const { pid } = await ring.manager.start(SLOT, HOW);
  process.kill(pid ?? 0, "SIGTERM");
  const again = await facts(ring.manager, "TERM restarts", (now) => now.ready && now.pid !== pid);
  assert.equal(again.deaths.at(-1)?.code, 75);
  assert.equal(again.backoff, null);
});

test("kill -9 of a slot's supervisor: a new one controls it again", { skip }, async (t) => {
  const ring = await openS6Ring(t);
  await register(ring);
  const { pid } = await ring.manager.start(SLOT, HOW);
  const own = supervisors(ring.scandir).find(({ words }) => words[1] === SLOT);
  assert.ok(own);
  process.kill(own.pid, "SIGKILL");
  await until("another supervises", () =>
    supervisors(ring.scandir).some((one) => one.words[1] === SLOT && one.pid !== own.pid),
  );
  // The program of this ring evicts nobody: that is slot-run's part.
  process.kill(pid ?? 0, "SIGKILL");
  await facts(ring.manager, "it is up", (now) => now.supervised && now.ready && now.pid !== pid);
  assert.equal((await ring.manager.stop(SLOT, HOW)).state, "stopped");
  assert.equal((await ring.manager.start(SLOT, HOW)).state, "ready");
});

test("a slot that is gone leaves no supervisor, no process, no entry", { skip }, async (t) => {
  const ring = await openS6Ring(t);
  for (const profile of ["default", "a", "b"]) await register(ring, profile);
  const { pid } = await ring.manager.start(SLOT, HOW);
  ring.play("gateway-a", "exit 3");
  await assert.rejects(ring.manager.start("gateway-a", HOW), { serviceCode: "crash-looping" });
  assert.equal(supervisors(ring.scandir).length, 6);
  for (const profile of ["default", "a", "b"]) await ring.manager.unregister(`gateway-${profile}`);
  assert.deepEqual(supervisors(ring.scandir), []);
  assert.equal(processStartTime(pid ?? 0), null);
  assert.deepEqual(readdirSync(ring.scandir), [".s6-svscan"]);
});

test("asked from inside its own slot, a restart waits for the turn's end", { skip }, async (t) => {
  const ring = await openS6Ring(t, { ownSlot: SLOT });
  await register(ring);
  const { pid } = await ring.manager.start(SLOT, HOW);
  const answer = await ring.manager.restart(SLOT, HOW);
  assert.equal(answer.desired, "running");
  const again = await facts(
    ring.manager,
    "another is ready",
    (now) => now.ready && now.pid !== pid,
  );
  assert.equal(again.deaths.at(-1)?.code, 75);
  await ring.manager.stop(SLOT, HOW);
  const down = await facts(ring.manager, "it is down", (now) => !now.up);
  assert.deepEqual([down.wantedUp, down.normallyUp], [false, false]);
});

const LINES = 5000;
const WIDTH = 900;
const PROFILES = ["default", "a", "b", "c"] as const;

test(
  "logs of four slots at once are whole, in files and in the shared output",
  { skip },
  async (t) => {
    const ring = await openS6Ring(t, { tee: true });
    const slots = PROFILES.map((profile) => `gateway-${profile}`);
    for (const [index, profile] of PROFILES.entries()) {
      await register(ring, profile);
      ring.play(slots[index] ?? "", `flood ${LINES} ${WIDTH}`);
    }
    const long = { ...HOW, waitMs: LONG_MS };
    await Promise.all(slots.map((slot) => ring.manager.start(slot, long)));
    const tail = "x".repeat(WIDTH);
    const wanted = (slot: string): readonly string[] =>
      Array.from({ length: LINES }, (_, n) => `${slot} ${n} ${tail}`);
    const ofSlot = (slot: string): readonly string[] =>
      ring
        .output()
        .split("\n")
        .filter((line) => line.startsWith(`[${slot}] `))
        .map((line) => line.slice(slot.length + 3));
    const last = (slot: string): string => `[${slot}] ${slot} ${LINES - 1} ${tail}\n`;
    await until(
      "all came out",
      () => slots.every((slot) => ring.output().includes(last(slot))),
      LONG_MS,
    );
    for (const slot of slots) assert.deepEqual(ofSlot(slot), wanted(slot), `output of ${slot}`);
    // No line but theirs: a broken one would have no prefix.
    const strange = ring
      .output()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("[gateway-"));
    assert.deepEqual(strange, []);
    for (const slot of slots) {
      const kept = ring.kept(slot).trimEnd().split("\n");
      const lines = kept.map((line) => line.replace(/^\S+ \S+ +/u, ""));
      assert.deepEqual(lines, wanted(slot), `files of ${slot}`);
    }
  },
);

test("without a tee nothing of a slot reaches the output", { skip }, async (t) => {
  const ring = await openS6Ring(t);
  await register(ring);
  ring.play(SLOT, "flood 10 10");
  await ring.manager.start(SLOT, HOW);
  await until("its file has all", () => ring.kept(SLOT).includes(`${SLOT} 9 `));
  assert.equal(ring.output(), "");
});

test(
  "another user may not control slots, and is told so by uid",
  { skip: noS6 ?? (process.getuid?.() === 0 ? false : "needs a second user") },
  async (t) => {
    const ring = await openS6Ring(t);
    await register(ring);
    const module = (name: string): string =>
      JSON.stringify(new URL(`../../src/supervisor/s6/${name}.ts`, import.meta.url).href);
    const source = `
      const { createS6Manager } = await import(${module("manager")});
      const manager = createS6Manager({ kind: "s6-user", scandir: ${JSON.stringify(ring.scandir)},
        layout: { libexec: "/", timeoutKillMs: 1000 }, judge: (facts) => facts, ownSlot: null });
      const facts = await manager.facts("${SLOT}");
      console.log(facts.registered, facts.supervised);
      await manager.start("${SLOT}", ${JSON.stringify(HOW)}).catch((error) =>
        console.log(error.serviceCode, error.exit, error.message));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
      uid: THIRD,
      gid: THIRD,
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    });
    assert.equal(
      stdout,
      `true false\npermission 77 ${SLOT} cannot be controlled as uid ${THIRD}.\n`,
      stderr,
    );
  },
);
