import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "#base/clock.ts";
import { type Log, silentLog } from "#base/log.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { placeOf } from "./file-system.ts";
import { openStore } from "./open.ts";
import { openConnection } from "./sqlite.ts";

function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, "../../test/fixtures/mountinfo", name), "utf8");
}

const CASES: readonly (readonly [string, string, string, "wal" | "delete"])[] = [
  ["virtiofs-with-ext4.txt", "/data/state.db", "virtiofs", "delete"],
  ["virtiofs-with-ext4.txt", "/data/disk/state.db", "ext4", "wal"],
  ["virtiofs-with-ext4.txt", "/data/with space/state.db", "9p", "delete"],
  ["virtiofs-with-ext4.txt", "/data/diskette/state.db", "virtiofs", "delete"],
  ["virtiofs-with-ext4.txt", "/database/state.db", "ext4", "wal"],
  ["virtiofs-with-ext4.txt", "/nowhere/state.db", "overlay", "wal"],
  ["network-and-fuse.txt", "/mnt/nfs/state.db", "nfs", "delete"],
  ["network-and-fuse.txt", "/mnt/nfs4/state.db", "nfs4", "delete"],
  ["network-and-fuse.txt", "/mnt/smb/state.db", "cifs", "delete"],
  ["network-and-fuse.txt", "/mnt/smb3/state.db", "smb3", "delete"],
  ["network-and-fuse.txt", "/mnt/vbox/state.db", "vboxsf", "delete"],
  ["network-and-fuse.txt", "/mnt/prl/state.db", "prl_fs", "delete"],
  ["network-and-fuse.txt", "/mnt/mac/state.db", "fakeowner", "delete"],
  ["network-and-fuse.txt", "/mnt/fuse/state.db", "fuse", "delete"],
  ["network-and-fuse.txt", "/mnt/ntfs/state.db", "fuseblk", "delete"],
  ["network-and-fuse.txt", "/mnt/sshfs/state.db", "fuse.sshfs", "delete"],
  ["network-and-fuse.txt", "/mnt/rootless/state.db", "fuse.fuse-overlayfs", "wal"],
  ["network-and-fuse.txt", "/mnt/btrfs/state.db", "btrfs", "wal"],
  ["network-and-fuse.txt", "/mnt/over/state.db", "xfs", "wal"],
];

for (const [file, path, type, journalMode] of CASES) {
  test(`${path} on ${type}: ${journalMode}`, () => {
    const warn = journalMode === "delete";
    assert.deepEqual(placeOf(path, "auto", fixture(file)), { type, journalMode, warn });
  });
}

test("the setting overrides the file system, without a warning", () => {
  const text = fixture("virtiofs-with-ext4.txt");
  assert.partialDeepStrictEqual(placeOf("/data/x", "wal", text), {
    journalMode: "wal",
    warn: false,
  });
  assert.partialDeepStrictEqual(placeOf("/data/disk/x", "delete", text), {
    journalMode: "delete",
    warn: false,
  });
});

test("without mountinfo it is WAL", () => {
  assert.deepEqual(placeOf("/x", "auto", ""), { type: null, journalMode: "wal", warn: false });
});

test("a store on a virtual file system uses DELETE and warns once per process", async (t) => {
  const home = tempDir(t);
  const mountinfo = `22 1 0:1 / / rw - ext4 /dev/vda rw\n23 22 0:2 / ${home} rw - virtiofs share rw\n`;
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const path = join(home, "state.db");
  const options = { path, backupsDir: home, journalMode: "auto", clock: systemClock, log } as const;
  for (let round = 0; round < 2; round++) {
    const store = await openStore({ ...options, mountinfo });
    await store.close();
  }
  assert.equal(journalModeOf(path), "delete");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /DELETE/);
  // The same file on a disk of its own goes back to WAL.
  const store = await openStore({ ...options, mountinfo: "22 1 0:1 / / rw - ext4 /dev/vda rw\n" });
  await store.close();
  assert.equal(journalModeOf(path), "wal");
  assert.equal(warnings.length, 1);
});

function journalModeOf(path: string): string | undefined {
  const connection = openConnection(path, { readOnly: true });
  try {
    return connection.get<{ journal_mode: string }>("PRAGMA journal_mode")?.journal_mode;
  } finally {
    connection.close();
  }
}
