// The sign of life of a ready process (container.md §6.3), and those that give none.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { asksLive, openLiveSocket } from "./live.ts";

function slotDir(t: TestContext, ...names: readonly string[]): string {
  const dir = join(tempDir(t), ...names);
  mkdirSync(join(dir, "data"), { recursive: true });
  return dir;
}

test("a process that is there answers, again and again, until it closes", async (t) => {
  const dir = slotDir(t);
  const live = await openLiveSocket(dir);
  const answers = await Promise.all(Array.from({ length: 20 }, () => asksLive(dir)));
  assert.deepEqual(new Set(answers), new Set([true]));
  live.close();
  assert.equal(await asksLive(dir), false);
  assert.equal(existsSync(join(dir, "data", "live")), false);
});

test("a path longer than a socket's address does no harm", async (t) => {
  const dir = slotDir(t, "d".repeat(120), "e".repeat(120));
  const live = await openLiveSocket(dir);
  t.after(() => live.close());
  assert.equal(await asksLive(dir), true);
});

test("what an earlier process left is replaced", async (t) => {
  const dir = slotDir(t);
  writeFileSync(join(dir, "data", "live"), "");
  assert.equal(await asksLive(dir), false);
  const live = await openLiveSocket(dir);
  t.after(() => live.close());
  assert.equal(await asksLive(dir), true);
});

test("nobody, no socket, no folder: no answer", async (t) => {
  const dir = slotDir(t);
  assert.equal(await asksLive(dir), false);
  assert.equal(await asksLive(join(dir, "gone")), false);
});

test("one that hangs gives no answer, and one that hangs up gives none either", async (t) => {
  for (const hangsUp of [false, true]) {
    const dir = slotDir(t);
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      if (hangsUp) socket.destroy();
    });
    server.listen(join(dir, "data", "live"));
    t.after(() => server.close());
    await until("it listens", () => server.listening);
    const before = performance.now();
    assert.equal(await asksLive(dir, 100), false);
    if (!hangsUp) assert.ok(performance.now() - before >= 99);
  }
});

test("asking leaves no descriptor open", async (t) => {
  const dir = slotDir(t);
  const live = await openLiveSocket(dir);
  await asksLive(dir);
  const open = (): number => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let index = 0; index < 20; index++) await asksLive(dir);
  live.close();
  for (let index = 0; index < 20; index++) await asksLive(dir, 50);
  await until("they are closed", () => open() <= before);
});

test("a folder that is not there is the caller's to hear of", async (t) => {
  await assert.rejects(async () => openLiveSocket(join(tempDir(t), "gone")), { code: "ENOENT" });
});
