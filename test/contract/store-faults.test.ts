// Disks that are full and homes that cannot be written (agent.md §6.3, §12.2 row 34).
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import { isHermesError } from "#base/errors.ts";
import { silentLog } from "#base/log.ts";
import { openStore } from "#store/open.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const OPENER = join(import.meta.dirname, "../fixtures/store-open.ts");
const WRITER = join(import.meta.dirname, "../fixtures/store-writer.ts");
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const skipMount = isRoot && canMount() ? false : "needs root and mount(8)";
const skipOther = isRoot ? false : "needs root to run as another user";

function canMount(): boolean {
  return spawnSync("mount", ["--version"]).status === 0;
}

/** A small disk of its own, gone when the test ends. */
function mountSmall(t: TestContext, size: string): string {
  // Registered first, so that it is unmounted before its folder is removed.
  t.after(() => spawnSync("umount", ["-l", folder]));
  const folder = tempDir(t, "small");
  const { status, stderr } = spawnSync(
    "mount",
    ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  return folder;
}

function open(home: string, journalMode: "wal" | "delete"): Promise<SessionStore> {
  const path = join(home, "state.db");
  return openStore({ path, backupsDir: home, journalMode, clock: systemClock, log: silentLog });
}

function append(store: SessionStore, n: number): Promise<readonly number[]> {
  const content = `message ${n} `.repeat(500);
  return store.appendMessages("s1", [{ role: "user", content, timestamp: n }]);
}

/** Appends until it fails; how many were acknowledged. */
async function appendUntilFull(store: SessionStore): Promise<number> {
  for (let n = 0; n < 5000; n++) {
    try {
      await append(store, n);
    } catch (error) {
      assert.ok(isHermesError(error, "STORE_FULL"), String(error));
      assert.equal(error.exit, 1);
      return n;
    }
  }
  throw new Error("the disk never became full");
}

for (const mode of ["wal", "delete"] as const) {
  test(
    `full disk (${mode}): STORE_FULL, old rows intact, goes on when there is room`,
    { skip: skipMount },
    async (t) => {
      const home = mountSmall(t, "3m");
      writeFileSync(join(home, "ballast"), Buffer.alloc(400_000));
      const store = await open(home, mode);
      t.after(() => store.close());
      await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
      const stored = await appendUntilFull(store);
      assert.ok(stored > 5);
      const page = await store.readMessages("s1", { limit: 5000, order: "asc" });
      assert.equal(page.total, stored);
      assert.deepEqual(
        page.messages.map((row) => row.timestamp),
        [...page.messages.keys()],
      );
      assert.equal((await store.getSession("s1"))?.messageCount, stored);
      assert.deepEqual(await store.check(), []);
      await assert.rejects(append(store, stored), { code: "STORE_FULL" });
      rmSync(join(home, "ballast"));
      await append(store, stored);
      assert.equal((await store.getSession("s1"))?.messageCount, stored + 1);
    },
  );

  test(
    `read-only disk (${mode}): refused by name, old rows intact`,
    { skip: skipMount },
    async (t) => {
      const home = mountSmall(t, "16m");
      const store = await open(home, mode);
      await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
      await append(store, 0);
      await store.close();
      const remount = (how: string): void => {
        assert.equal(spawnSync("mount", ["-o", `remount,${how}`, home]).status, 0);
      };
      remount("ro");
      await assert.rejects(open(home, mode), { code: "STORE_READONLY" });
      remount("rw");
      const again = await open(home, mode);
      t.after(() => again.close());
      assert.equal((await again.getSession("s1"))?.messageCount, 1);
    },
  );
}

test(
  "a home that becomes unwritable: STORE_FULL, nothing acknowledged is lost",
  { skip: skipOther },
  async (t) => {
    const home = tempDir(t, "closing");
    const path = join(home, "state.db");
    const store = await open(home, "delete");
    t.after(() => store.close());
    await store.createSession({ id: "shared", source: "cli", startedAt: 1 });
    for (const name of [home, path]) chownSync(name, NOBODY, NOBODY);
    const child = spawn(process.execPath, [WRITER, path, "delete", "a", "0", "100000"], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: ["ignore", "pipe", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    const exited = once(child, "close");
    let out = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (errors += text));
    await until("it writes", () => out.split("\n").length > 5, 60_000);
    // Without its folder SQLite cannot make the rollback journal that each write needs.
    chmodSync(home, 0o555);
    await exited;
    assert.match(errors, /STORE_FULL/);
    const acknowledged = out.split("\n").length - 1;
    assert.equal(
      (await store.readMessages("shared", { limit: 1, order: "asc" })).total,
      acknowledged,
    );
    assert.deepEqual(await store.check(), []);
  },
);

function openAsNobody(path: string): string {
  const child = spawnSync(process.execPath, [OPENER, path], {
    uid: NOBODY,
    gid: NOBODY,
    encoding: "utf8",
  });
  return child.stdout.trim() + child.stderr.trim();
}

test("a home that this user cannot write is refused by name", { skip: skipOther }, async (t) => {
  const home = tempDir(t, "unwritable");
  const path = join(home, "state.db");
  chmodSync(home, 0o755);
  assert.equal(openAsNobody(path), "STORE_READONLY 1");
  for (const mode of ["wal", "delete"] as const) {
    const store = await open(home, mode);
    await store.close();
    for (const bits of [0o600, 0o644]) {
      chmodSync(path, bits);
      assert.equal(openAsNobody(path), "STORE_READONLY 1", `${mode} ${bits.toString(8)}`);
    }
  }
  assert.deepEqual(readdirSync(home), ["state.db"]);
  chownSync(home, NOBODY, NOBODY);
  chownSync(path, NOBODY, NOBODY);
  assert.equal(openAsNobody(path), "ok");
});
