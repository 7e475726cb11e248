// A dashboard outside a slot: the lock says whether, the record which, the process itself how.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { freePort } from "../../test/kit/free-port.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { asksHealth, readDashboard, readDashboardRecord } from "./dashboard-process.ts";

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => {
    server.once("listening", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function home(t: TestContext, record: unknown): { readonly root: string; readonly lock: FakeLock } {
  const root = tempDir(t);
  mkdirSync(join(root, "dashboard"));
  if (record !== undefined)
    writeFileSync(join(root, "dashboard", "dashboard.json"), JSON.stringify(record));
  return { root, lock: new FakeLock() };
}

const hold = ({ root, lock }: ReturnType<typeof home>): unknown =>
  lock.hold(join(root, "dashboard", "dashboard.lock"), "dashboard");

test("lock free: stopped, whatever the record says", async (t) => {
  const url = await serve(t, (_, response) => void response.end());
  const { root, lock } = home(t, { pid: process.pid, url });
  assert.deepEqual(await readDashboard(root, lock), {
    state: "stopped",
    record: null,
    reason: null,
  });
});

test("lock held, no record yet: starting", async (t) => {
  const there = home(t, undefined);
  hold(there);
  const { state } = await readDashboard(there.root, there.lock);
  assert.equal(state, "starting");
});

test("lock held and it answers: ready, asked at its own address alone", async (t) => {
  const asked: string[] = [];
  const url = await serve(t, ({ url: path, headers }, response) => {
    asked.push(`${path} ${headers.host} ${headers.cookie ?? "no cookie"}`);
    response.end("{}");
  });
  const record = { pid: 7, start_time: "1", host: "127.0.0.1", url: `${url}/` };
  const there = home(t, record);
  hold(there);
  assert.deepEqual(await readDashboard(there.root, there.lock), {
    state: "ready",
    record,
    reason: null,
  });
  assert.deepEqual(asked, [`/api/health ${new URL(url).host} no cookie`]);
});

test("lock held and nobody listens: unknown", async (t) => {
  const there = home(t, { pid: 7, url: `http://127.0.0.1:${await freePort()}` });
  hold(there);
  const { state, reason } = await readDashboard(there.root, there.lock);
  assert.deepEqual([state, reason], ["unknown", "does not answer"]);
});

const ANSWERS: readonly (readonly [what: string, listener: RequestListener, isUp: boolean])[] = [
  ["200", (_, response) => void response.end("{}"), true],
  ["503", (_, response) => void response.writeHead(503).end(), false],
  ["a redirect", (_, response) => void response.writeHead(302, { location: "/" }).end(), false],
  ["nothing, for ever", () => undefined, false],
  ["an end without an answer", (request) => void request.socket.destroy(), false],
];

for (const [what, listener, isUp] of ANSWERS) {
  test(`health that answers ${what} is ${isUp ? "up" : "down"}`, async (t) => {
    assert.equal(
      await asksHealth(await serve(t, listener), what.includes("ever") ? 100 : 10_000),
      isUp,
    );
  });
}

test("an address that is none is down", async () => {
  for (const url of ["nonsense", "", "http://", "https://127.0.0.1:1", "file:///"])
    assert.equal(await asksHealth(url), false, url);
});

test("records that are none", (t) => {
  for (const record of [
    null,
    [],
    3,
    "x",
    {},
    { pid: "1", url: "u" },
    { pid: 1, url: 5 },
    { pid: 1, url: "nonsense" },
  ]) {
    assert.equal(readDashboardRecord(home(t, record).root), null, JSON.stringify(record));
  }
  assert.equal(readDashboardRecord(tempDir(t)), null);
});
