import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "#base/log.ts";
import type { AgentEventBody } from "#protocol/events.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { MemoryStore } from "../../test/kit/memory-store.ts";
import { Follower } from "./follower.ts";
import { Viewers } from "./viewers.ts";

const user = (content: string) => ({ role: "user" as const, content, timestamp: 1 });

async function followed() {
  const clock = new FakeClock();
  const store = new MemoryStore();
  await store.createSession({ id: "s", source: "cli", startedAt: 1 });
  const told: AgentEventBody[] = [];
  const live = {
    sessionId: "s",
    lastSavedId: 0,
    running: null,
    viewers: new Viewers("run", clock, silentLog),
    emit: (event: AgentEventBody) => void told.push(event),
  };
  const viewer = live.viewers.subscribe("s", null, () => undefined);
  const follower = new Follower(live, { store, clock, log: silentLog });
  await follower.start();
  return { clock, store, told, live, viewer };
}

test("rows that another process stored are told within a second, once", async () => {
  const { clock, store, told } = await followed();
  const [id] = await store.appendMessages("s", [user("from elsewhere")]);
  await clock.advance(1000);
  await clock.advance(3000);
  assert.deepEqual(told, [{ type: "message-saved", messageId: id, role: "user", kind: null }]);
});

test("rows of a turn of this process are not told a second time", async () => {
  const { clock, store, told, live } = await followed();
  const [id] = await store.appendMessages("s", [user("from here")]);
  live.lastSavedId = id ?? 0;
  await clock.advance(2000);
  assert.deepEqual(told, []);
});

test("a foreign turn shows as running and then as idle", async () => {
  const { clock, store, told } = await followed();
  const owner = { pid: 1, startTime: "", host: "elsewhere", surface: "tui" };
  const lease = { turnId: "t", owner, now: clock.now() / 1000, ttlSeconds: 30 };
  await store.takeLease("s", lease);
  await clock.advance(1000);
  await store.dropLease("s", "t");
  await clock.advance(1000);
  assert.deepEqual(told, [
    { type: "status", state: "calling", detail: "running in tui" },
    { type: "status", state: "idle" },
  ]);
});

test("nobody watches: nothing is asked any more", async () => {
  const { clock, viewer } = await followed();
  viewer.close();
  await clock.advance(1000);
  assert.equal(clock.pending, 0);
});
