// The matrix of container.md §7.1, with readers that answer, deny or throw.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { detectManager, type DetectReaders, LABELS, systemReaders } from "./detect.ts";

function broken(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

const NOTHING: DetectReaders = {
  pid1Name: () => "bash",
  isDirectory: () => false,
  hasReader: () => false,
  hasUserBus: () => false,
  platform: "linux",
};
const S6: Partial<DetectReaders> = { pid1Name: () => "s6-svscan", isDirectory: () => true };

const ROWS: readonly (readonly [what: string, readers: Partial<DetectReaders>, kind: string])[] = [
  ["PID 1 and the directory", S6, "s6"],
  ["all there is", { ...S6, hasReader: () => true, hasUserBus: () => true }, "s6"],
  ["PID 1 is something else", { ...S6, pid1Name: () => "systemd" }, "none"],
  ["PID 1 has a longer name", { ...S6, pid1Name: () => "s6-svscanx" }, "none"],
  ["PID 1 cannot be told", { ...S6, pid1Name: () => null }, "none"],
  ["no /proc", { ...S6, pid1Name: broken("ENOENT") }, "none"],
  ["/proc is not ours to read", { ...S6, pid1Name: broken("EACCES") }, "none"],
  ["no directory", { ...S6, isDirectory: () => false }, "none"],
  ["the directory is not ours to see", { ...S6, isDirectory: broken("EACCES") }, "none"],
  ["a scan directory of one's own", { hasReader: () => true }, "s6-user"],
  [
    "no /proc, but a scan directory",
    { pid1Name: broken("ENOENT"), hasReader: () => true },
    "s6-user",
  ],
  [
    "another PID 1, and a scan directory",
    { ...S6, pid1Name: () => "tini", hasReader: () => true },
    "s6-user",
  ],
  [
    "both a scan directory and systemd",
    { hasReader: () => true, hasUserBus: () => true },
    "s6-user",
  ],
  [
    "the FIFO has no reader, systemd",
    { hasReader: broken("ENXIO"), hasUserBus: () => true },
    "systemd",
  ],
  ["the FIFO is not ours", { hasReader: broken("EACCES") }, "none"],
  ["systemd's bus is not ours", { hasUserBus: broken("EACCES") }, "none"],
  ["a user bus on another system", { hasUserBus: () => true, platform: "darwin" }, "none"],
  ["nothing", {}, "none"],
];

for (const [what, readers, kind] of ROWS) {
  test(`${what}: ${kind}`, () => {
    assert.equal(detectManager({ ...NOTHING, ...readers }, "/run/service"), kind);
  });
}

test("it asks for these places only", () => {
  const asked: string[] = [];
  const readers: DetectReaders = {
    ...NOTHING,
    pid1Name: () => "s6-svscan",
    isDirectory: (path) => asked.push(path) < 0,
    hasReader: (path) => asked.push(path) < 0,
  };
  detectManager(readers, "/scan");
  assert.deepEqual(asked, ["/run/s6/basedir", "/scan/.s6-svscan/control"]);
});

test("labels are those of every surface", () => {
  assert.deepEqual(LABELS, {
    s6: "s6 (container supervisor)",
    "s6-user": "s6 (user)",
    systemd: "systemd (user)",
    none: "none",
  });
});

test("a FIFO counts while somebody reads it", (t) => {
  const dir = tempDir(t);
  const { hasReader } = systemReaders({});
  const fifo = join(dir, "control");
  assert.throws(() => hasReader(fifo), { code: "ENOENT" });
  assert.equal(spawnSync("mkfifo", [fifo]).status, 0);
  assert.throws(() => hasReader(fifo), { code: "ENXIO" });
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  assert.equal(hasReader(fifo), true);
  closeSync(reader);
  assert.throws(() => hasReader(fifo), { code: "ENXIO" });
  writeFileSync(join(dir, "file"), "");
  assert.equal(hasReader(join(dir, "file")), false);
});

test("the user's systemd is its private socket", async (t) => {
  const dir = tempDir(t);
  assert.equal(systemReaders({}).hasUserBus(), false);
  const { hasUserBus } = systemReaders({ XDG_RUNTIME_DIR: dir });
  assert.throws(hasUserBus, { code: "ENOENT" });
  mkdirSync(join(dir, "systemd"));
  const server = createServer().listen(join(dir, "systemd", "private"));
  t.after(() => server.close());
  await new Promise((resolve) => {
    server.once("listening", resolve);
  });
  assert.equal(hasUserBus(), true);
});

test("this machine's own readers never decide by an error", () => {
  const readers = { ...systemReaders({ XDG_RUNTIME_DIR: "/nowhere" }), pid1Name: () => null };
  assert.equal(detectManager(readers, "/nowhere"), "none");
});
