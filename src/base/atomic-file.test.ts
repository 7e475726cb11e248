import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { runAsOther } from "../../test/kit/as-other-user.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { writeFileAtomic } from "./atomic-file.ts";

const isRoot = process.getuid?.() === 0;

test("a new file gets the mode, whatever the umask", (t) => {
  const path = join(tempDir(t), "new");
  const old = process.umask(0o077);
  t.after(() => process.umask(old));
  writeFileAtomic(path, "text", { mode: 0o640 });
  assert.equal(statSync(path).mode & 0o777, 0o640);
  assert.equal(readFileSync(path, "utf8"), "text");
});

test("an existing file keeps its mode and becomes another inode", (t) => {
  const path = join(tempDir(t), "old");
  writeFileSync(path, "old");
  chmodSync(path, 0o604);
  const before = statSync(path);
  writeFileAtomic(path, Buffer.from([0, 255]), { mode: 0o600 });
  const after = statSync(path);
  assert.equal(after.mode & 0o777, 0o604);
  assert.notEqual(after.ino, before.ino);
  assert.deepEqual([...readFileSync(path)], [0, 255]);
  assert.deepEqual(readdirSync(join(path, "..")), ["old"]);
});

test(
  "an existing file keeps its owner",
  { skip: !isRoot && "needs root to change owners" },
  (t) => {
    const path = join(tempDir(t), "owned");
    writeFileSync(path, "old");
    chownSync(path, 65_534, 65_533);
    writeFileAtomic(path, "new", { mode: 0o600 });
    const { uid, gid } = statSync(path);
    assert.deepEqual([uid, gid, readFileSync(path, "utf8")], [65_534, 65_533, "new"]);
  },
);

test("a symlink stays and its target is written", (t) => {
  const folder = tempDir(t);
  mkdirSync(join(folder, "elsewhere"));
  const target = join(folder, "elsewhere", "target");
  writeFileSync(target, "old");
  symlinkSync(target, join(folder, "link"));
  writeFileAtomic(join(folder, "link"), "new", { mode: 0o600 });
  assert.ok(lstatSync(join(folder, "link")).isSymbolicLink());
  assert.equal(readFileSync(target, "utf8"), "new");
  assert.deepEqual(readdirSync(join(folder, "elsewhere")), ["target"]);
});

test("a failure leaves the old file and no temporary one", (t) => {
  const folder = tempDir(t);
  chmodSync(folder, 0o755);
  const closed = join(folder, "closed");
  mkdirSync(closed);
  writeFileSync(join(closed, "file"), "old");
  chmodSync(join(closed, "file"), 0o666);
  chmodSync(closed, 0o555);
  const source = `
    import { writeFileAtomic } from ${JSON.stringify(new URL("./atomic-file.ts", import.meta.url).href)};
    try { writeFileAtomic(process.argv[1], "new", { mode: 0o600 }); console.log("written"); }
    catch (error) { console.log(error.code); }
  `;
  const end = runAsOther(source, [join(closed, "file")]);
  assert.equal(end.stdout.trim(), "EACCES", end.stderr);
  assert.equal(readFileSync(join(closed, "file"), "utf8"), "old");
  assert.deepEqual(readdirSync(closed), ["file"]);
});

test("a failed rename leaves no temporary file", (t) => {
  const folder = tempDir(t);
  mkdirSync(join(folder, "taken"));
  assert.throws(() => writeFileAtomic(join(folder, "taken"), "new", { mode: 0o600 }));
  assert.deepEqual(readdirSync(folder), ["taken"]);
});

test("a bind-mounted file is written in place after a copy", (t) => {
  const folder = tempDir(t);
  const source = join(folder, "source");
  const mounted = join(folder, "mounted");
  writeFileSync(source, "old text, longer than the new one");
  writeFileSync(mounted, "");
  if (spawnSync("mount", ["--bind", source, mounted]).status !== 0) {
    t.skip("needs the right to mount --bind");
    return;
  }
  try {
    writeFileAtomic(mounted, "new", { mode: 0o600, backupDir: join(folder, "backups") });
  } finally {
    spawnSync("umount", [mounted]);
  }
  assert.equal(readFileSync(source, "utf8"), "new");
  const copy = readFileSync(join(folder, "backups", "mounted.before-write"), "utf8");
  assert.equal(copy, "old text, longer than the new one");
  assert.deepEqual(readdirSync(folder).sort(), ["backups", "mounted", "source"]);
});

test("a volatile file is as whole, and waits for no disk; others are flushed with their folder", (t) => {
  const path = join(tempDir(t), "record");
  const fsync = t.mock.method(fs, "fsyncSync");
  syncBuiltinESMExports();
  t.after(() => {
    fsync.mock.restore();
    syncBuiltinESMExports();
  });
  writeFileAtomic(path, "one", { mode: 0o600, volatile: true });
  writeFileAtomic(path, "two", { mode: 0o600, volatile: true });
  assert.equal(fsync.mock.callCount(), 0);
  assert.deepEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["two", 0o600]);
  assert.deepEqual(readdirSync(join(path, "..")), ["record"]);
  writeFileAtomic(path, "three", { mode: 0o600 });
  assert.equal(fsync.mock.callCount(), 2);
});
