// The copy that requests read: refreshed each second, asks one at a time, keeps what it has when asking fails.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { MemoryManager } from "../../test/kit/memory-manager.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { type ServiceWatch, watchServices } from "./watch.ts";

interface Watched {
  readonly manager: MemoryManager;
  readonly clock: FakeClock;
  readonly watch: ServiceWatch;
  readonly root: string;
  readonly warned: string[];
  /** How often the list was asked for. */
  asked(): number;
  /** What the next askings do; null: as usual. */
  set(list: MemoryManager["list"] | null): void;
}

async function open(t: TestContext): Promise<Watched> {
  const root = tempDir(t);
  const lock = new FakeLock();
  const manager = new MemoryManager({ root, lock });
  const home = join(root, "profiles", "a");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "gateway_state.json"), '{"gateway_state":"running","pid":7}');
  await manager.register(
    { schema: 1, kind: "gateway", profile: "a", home, enabled: true },
    { start: true },
  );
  const clock = new FakeClock();
  const warned: string[] = [];
  const list = manager.list.bind(manager);
  let instead: MemoryManager["list"] | null = null;
  let asked = 0;
  manager.list = () => {
    asked += 1;
    return (instead ?? list)();
  };
  const log = { ...silentLog, warn: (text: string) => void warned.push(text) };
  const watch = watchServices(manager, { root, lock, clock, log });
  t.after(() => watch.close());
  return {
    manager,
    clock,
    watch,
    root,
    warned,
    asked: () => asked,
    set: (next) => (instead = next),
  };
}

const states = (watch: ServiceWatch): readonly string[] =>
  watch.services().map(({ name, state }) => `${name} ${state}`);

test("the copy is empty first, then that of the last second", async (t) => {
  const { manager, clock, watch } = await open(t);
  assert.deepEqual([watch.services(), watch.asOf(), watch.observed("a")], [[], 0, null]);
  await until("it was read", () => watch.asOf() > 0);
  assert.equal(watch.asOf(), clock.now());
  assert.deepEqual(states(watch), ["gateway-a ready"]);
  assert.equal(watch.observed("a")?.state, "running");
  assert.equal(watch.observed("b"), null);
  await manager.stop("gateway-a", { waitMs: 1000, by: "x", source: "cli" });
  assert.deepEqual(states(watch), ["gateway-a ready"]);
  await until("the next is due", () => clock.pending === 1);
  await clock.advance(1000);
  await until("it was read anew", () => states(watch)[0] === "gateway-a stopped");
});

test("an action's refresh is seen at once, and askers share one", async (t) => {
  const { manager, watch, asked } = await open(t);
  await watch.refresh();
  await manager.stop("gateway-a", { waitMs: 1000, by: "x", source: "cli" });
  const before = asked();
  await Promise.all([watch.refresh(), watch.refresh(), watch.refresh()]);
  assert.equal(asked(), before + 1);
  assert.deepEqual(states(watch), ["gateway-a stopped"]);
});

test("what cannot be asked leaves the copy as it is, with its age and a warning", async (t) => {
  const { clock, watch, warned, set } = await open(t);
  await watch.refresh();
  const asOf = watch.asOf();
  set(() => Promise.reject(new Error("no")));
  await until("the next is due", () => clock.pending === 1);
  await clock.advance(1000);
  await until("it failed", () => warned.length > 0);
  assert.deepEqual([states(watch), watch.asOf()], [["gateway-a ready"], asOf]);
  set(null);
  await until("it goes on", () => clock.pending === 1);
  await clock.advance(1000);
  await until("it was read", () => watch.asOf() > asOf);
});

test("after close nothing is asked any more", async (t) => {
  const { clock, watch, asked } = await open(t);
  await watch.refresh();
  await until("the next is due", () => clock.pending === 1);
  watch.close();
  assert.equal(clock.pending, 0);
  const before = asked();
  await clock.advance(10_000);
  assert.equal(asked(), before);
});

test("closed while it asks, it sets no clock again", async (t) => {
  const { clock, watch } = await open(t);
  const asking = watch.refresh();
  watch.close();
  await asking;
  await clock.advance(0);
  assert.equal(clock.pending, 0);
});
