// read_file, write_file, patch and the path guard on a real file system (agent.md §5.1, §5.2, §12.2 row 27, field-rules J06).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { toolBench } from "../../test/kit/tool-box.ts";
import { createPathGuard } from "./paths.ts";
import { PROTECTED_PATHS } from "./policy.ts";

void test("every entry of protected-paths.json: its examples are closed, its counter-examples are not", () => {
  const facts = {
    home: "/opt/data/profiles/work",
    root: "/opt/data",
    userHomes: ["/home/user"],
    safeRoots: [],
  };
  const guard = createPathGuard(facts);
  const fill = (text: string): string =>
    text.replace("<home>", facts.home).replace("<root>", facts.root).replace(/^~/, "/home/user");
  for (const entry of PROTECTED_PATHS) {
    assert.ok(entry.blocks.length > 0 && entry.allows.length > 0, entry.id);
    for (const path of entry.blocks.map(fill)) {
      assert.ok(guard.protectionOf(path), `${entry.id}: ${path}`);
      assert.throws(() => guard.checkWrite(path), { code: "PROTECTED_PATH" }, path);
      assert.equal(guard.isReadClosed(path), entry.deny === "read+write", path);
    }
    for (const path of entry.allows.map(fill)) {
      assert.notEqual(guard.protectionOf(path)?.id, entry.id, `${entry.id}: ${path}`);
    }
  }
});

void test("read_file: numbered lines, pages, totals", async (t) => {
  const bench = toolBench(t);
  writeFileSync(join(bench.cwd, "a.txt"), "one\r\ntwo\nthree\n\nfive");
  const all = await bench.run("read_file", { path: "a.txt" });
  assert.deepEqual(all.json, {
    content: "     1\tone\n     2\ttwo\n     3\tthree\n     4\t\n     5\tfive",
    total_lines: 5,
    size: 20,
  });
  const page = await bench.run("read_file", { path: "a.txt", offset: 2, limit: 2 });
  assert.deepEqual(page.json, {
    content: "     2\ttwo\n     3\tthree",
    total_lines: 5,
    size: 20,
    truncated: true,
    next_offset: 4,
  });
  writeFileSync(join(bench.cwd, "empty"), "");
  assert.deepEqual((await bench.run("read_file", { path: "empty" })).json, {
    content: "",
    total_lines: 0,
    size: 0,
  });
  assert.equal(
    (await bench.run("read_file", { path: "a.txt", offset: 6 })).code,
    "OFFSET_BEYOND_END",
  );
});

void test("read_file: long lines are cut at 2000 characters, a call at 100 KB", async (t) => {
  const bench = toolBench(t);
  writeFileSync(
    join(bench.cwd, "long"),
    `${"é".repeat(300_000)}\n${"x".repeat(500)}\n`.repeat(1) + `${"y".repeat(1000)}\n`.repeat(1500),
  );
  const { json, content } = await bench.run("read_file", { path: "long", limit: 2000 });
  const lines = (json.content as string).split("\n");
  assert.equal(lines[0], `     1\t${"é".repeat(2000)}…`);
  assert.equal(json.total_lines, 1502);
  assert.equal(json.truncated, true);
  assert.ok(Buffer.byteLength(json.content) <= 100 * 1024);
  assert.ok(Buffer.byteLength(json.content) > 95 * 1024);
  assert.equal(json.next_offset, lines.length + 1);
  assert.ok(content.length <= 150_000);
});

void test("read_file: what is no text file is refused with its kind", async (t) => {
  const bench = toolBench(t);
  const at = (name: string): string => join(bench.cwd, name);
  execFileSync("mkfifo", [at("pipe")]);
  mkdirSync(at("folder"));
  writeFileSync(at("picture.png"), Buffer.from("89504e470d0a1a0a0000000d", "hex"));
  writeFileSync(at("data.bin"), Buffer.from([1, 0, 2]));
  writeFileSync(at("readme.md"), "x");
  const server = createServer().listen(at("socket"));
  t.after(() => server.close());
  await new Promise((resolve) => {
    server.once("listening", resolve);
  });
  for (const [path, code, word] of [
    ["pipe", "NOT_A_FILE", "named pipe"],
    ["folder", "NOT_A_FILE", "folder"],
    ["socket", "NOT_A_FILE", "socket"],
    ["/dev/zero", "NOT_A_FILE", "device"],
    ["/dev/stdin", "NOT_A_FILE", ""],
    ["picture.png", "BINARY", "PNG image"],
    ["data.bin", "BINARY", "binary data"],
    ["readme", "NOT_FOUND", "readme.md"],
    ["readme.md/x", "NOT_FOUND", ""],
    ["a\0b", "BAD_PATH", "NUL"],
  ] as const) {
    const result = await bench.run("read_file", { path });
    assert.equal(result.code, code, path);
    assert.ok(result.json.error.includes(word), `${path}: ${result.json.error}`);
  }
});

void test("protected paths: by name, by symlink, by .., through /proc, for reading and writing", async (t) => {
  const bench = toolBench(t);
  const env = join(bench.home, ".env");
  writeFileSync(env, "KEY=1\n");
  writeFileSync(join(bench.home, "config.yaml"), "a: 1\n");
  writeFileSync(join(bench.home, "state.db"), "");
  symlinkSync(env, join(bench.cwd, "link"));
  symlinkSync("link", join(bench.cwd, "link2"));
  symlinkSync(bench.home, join(bench.cwd, "data"));
  symlinkSync(join(bench.home, ".env.new"), join(bench.cwd, "dangling"));
  for (const path of [
    env,
    "link",
    "link2",
    "data/.env",
    "data/../data/.env",
    `/proc/self/root${env}`,
    ".env",
    "sub/.env.local",
    "/proc/self/environ",
    "/proc/1/environ",
    `/proc/${process.pid}/environ`,
  ]) {
    const read = await bench.run("read_file", { path });
    assert.ok(
      ["PROTECTED_PATH", "NOT_FOUND", "UNREADABLE"].includes(read.code ?? ""),
      `${path}: ${read.code}`,
    );
    if (existsSync(join(bench.cwd, path)) || existsSync(path))
      assert.equal(read.code, "PROTECTED_PATH", path);
    const write = await bench.run("write_file", { path, content: "x" });
    assert.equal(write.code, "PROTECTED_PATH", path);
  }
  for (const path of [
    "dangling",
    "data/config.yaml",
    "data/state.db",
    "data/state.db-wal",
    "data/gateway_desired.json",
    "/etc/hermes-test",
    "~/.ssh/authorized_keys",
    "data/dashboard/session.key",
  ]) {
    assert.equal(
      (await bench.run("write_file", { path, content: "x" })).code,
      "PROTECTED_PATH",
      path,
    );
  }
  assert.equal(
    (await bench.run("patch", { path: "data/config.yaml", old_string: "a", new_string: "b" })).code,
    "PROTECTED_PATH",
  );
  assert.equal((await bench.run("read_file", { path: "data/config.yaml" })).ok, true);
  assert.equal(readFileSync(env, "utf8"), "KEY=1\n");
  const found = await bench.run("search_files", { pattern: "KEY", path: bench.home });
  assert.equal(found.json.total, 0);
});

void test("HERMES_WRITE_SAFE_ROOT confines write_file and patch, links seen through", async (t) => {
  const outer = toolBench(t);
  const safe = join(outer.cwd, "safe");
  mkdirSync(safe);
  const bench = toolBench(t, { safeRoots: [safe] });
  symlinkSync(outer.cwd, join(safe, "up"));
  writeFileSync(join(outer.cwd, "x.txt"), "old");
  for (const path of [
    join(outer.cwd, "x.txt"),
    join(safe, "..", "x.txt"),
    join(safe, "up", "x.txt"),
    `${safe}2/x.txt`,
    join(safe, "up", "new", "x.txt"),
  ]) {
    assert.equal(
      (await bench.run("write_file", { path, content: "new" })).code,
      "OUTSIDE_SAFE_ROOT",
      path,
    );
    const patched = await bench.run("patch", { path, old_string: "old", new_string: "new" });
    assert.equal(patched.code, "OUTSIDE_SAFE_ROOT", path);
  }
  assert.equal(
    (await bench.run("write_file", { path: join(safe, "deep", "er", "x"), content: "new" })).ok,
    true,
  );
  assert.equal(readFileSync(join(outer.cwd, "x.txt"), "utf8"), "old");
});

void test("write_file: created, counted, mode kept, nothing left behind", async (t) => {
  const bench = toolBench(t);
  const path = join(bench.cwd, "a", "b.txt");
  const made = await bench.run("write_file", { path: "a/b.txt", content: "1\n2\n3\n" });
  assert.deepEqual(made.json, { bytes: 6, created: true, added: 3, removed: 0 });
  chmodSync(path, 0o755);
  const changed = await bench.run("write_file", { path: "a/b.txt", content: "1\nzwei\n3\n4\n" });
  assert.deepEqual(changed.json, { bytes: 11, created: false, added: 2, removed: 1 });
  assert.equal(statSync(path).mode & 0o777, 0o755);
  assert.deepEqual(readdirSync(join(bench.cwd, "a")), ["b.txt"]);
  mkdirSync(join(bench.cwd, "folder"));
  assert.equal((await bench.run("write_file", { path: "folder", content: "" })).code, "NOT_A_FILE");
  assert.equal(
    (await bench.run("write_file", { path: "a/b.txt/c", content: "" })).code,
    "WRITE_FAILED",
  );
  const big = bench
    .tool("write_file")
    .parse({ path: "x", content: "x".repeat(5 * 1024 * 1024 + 1) });
  assert.equal(big.ok, false);
  const wide = await bench.run("write_file", { path: "x", content: "é".repeat(3 * 1024 * 1024) });
  assert.equal(wide.code, "TOO_LARGE");
});

void test("a symlinked file is written at its target, a hard link by its name", async (t) => {
  const bench = toolBench(t);
  writeFileSync(join(bench.cwd, "real"), "old");
  symlinkSync("real", join(bench.cwd, "link"));
  linkSync(join(bench.cwd, "real"), join(bench.cwd, "hard"));
  await bench.run("write_file", { path: "link", content: "new" });
  assert.equal(readFileSync(join(bench.cwd, "real"), "utf8"), "new");
  assert.equal(readFileSync(join(bench.cwd, "hard"), "utf8"), "old");
});

void test("a redaction placeholder is not written over the secret that it stands for", async (t) => {
  const secret = "planted-secret-value-1";
  const bench = toolBench(t, { secrets: new Map([["PLANTED", secret]]) });
  const path = join(bench.cwd, "settings.ini");
  writeFileSync(path, `a=1\nkey=${secret}\n`);
  const read = await bench.run("read_file", { path });
  assert.match(read.json.content, /key=\[redacted:PLANTED\]/);
  const whole = await bench.run("write_file", { path, content: "a=2\nkey=[redacted:PLANTED]\n" });
  assert.equal(whole.code, "REDACTED_PLACEHOLDER");
  const part = await bench.run("patch", { path, old_string: "a=1", new_string: "a=[redacted]" });
  assert.equal(part.code, "REDACTED_PLACEHOLDER");
  assert.equal(readFileSync(path, "utf8"), `a=1\nkey=${secret}\n`);
  writeFileSync(join(bench.cwd, "doc.md"), "shown as [redacted]\n");
  const kept = await bench.run("write_file", {
    path: "doc.md",
    content: "it is shown as [redacted]\n",
  });
  assert.equal(kept.ok, true);
});

interface PatchCase {
  readonly name: string;
  readonly file: string;
  readonly old: string;
  readonly fresh: string;
  readonly all?: boolean;
  readonly want: string;
  readonly strategy: string;
  readonly replacements?: number;
}

const PATCHES: readonly PatchCase[] = [
  { name: "exact", file: "a b c", old: "b", fresh: "$& $1", want: "a $& $1 c", strategy: "exact" },
  {
    name: "exact wins over nearer forms",
    file: "  x\nx\n",
    old: "\nx\n",
    fresh: "\ny\n",
    want: "  x\ny\n",
    strategy: "exact",
  },
  {
    name: "replace_all",
    file: "a a a",
    old: "a",
    fresh: "bb",
    all: true,
    want: "bb bb bb",
    strategy: "exact",
    replacements: 3,
  },
  {
    name: "trailing white space",
    file: "if (x) {  \n  y();\t\n}\n",
    old: "if (x) {\n  y();\n}",
    fresh: "z();",
    want: "z();\n",
    strategy: "line-trimmed",
  },
  {
    name: "CRLF file, LF text",
    file: "a\r\nb\r\nc\r\n",
    old: "a\nb",
    fresh: "x\ny",
    want: "x\r\ny\r\nc\r\n",
    strategy: "line-trimmed",
  },
  {
    name: "CRLF file, one line",
    file: "a\r\nb\r\n",
    old: "a",
    fresh: "x\ny",
    want: "x\r\ny\r\nb\r\n",
    strategy: "exact",
  },
  {
    name: "moved to the right",
    file: "f {\n    if x {\n        y\n    }\n}\n",
    old: "if x {\n    y\n}\n",
    fresh: "while x {\n    z\n\n}\n",
    want: "f {\n    while x {\n        z\n\n    }\n}\n",
    strategy: "indentation-shifted",
  },
  {
    name: "moved to the left",
    file: "if x {\n  y\n}\n",
    old: "    if x {\n      y\n    }",
    fresh: "    if z {\n      y\n    }",
    want: "if z {\n  y\n}\n",
    strategy: "indentation-shifted",
  },
  {
    name: "tabs for spaces",
    file: "\tcall(a,  b)\n",
    old: "  call(a, b)",
    fresh: "  call(b)",
    want: "\tcall(b)\n",
    strategy: "whitespace-collapsed",
  },
  {
    name: "new text may be empty",
    file: "a\nb\nc\n",
    old: "b\n",
    fresh: "",
    want: "a\nc\n",
    strategy: "exact",
  },
  {
    name: "byte order mark is kept",
    file: "\uFEFFa\n",
    old: "a",
    fresh: "b",
    want: "\uFEFFb\n",
    strategy: "exact",
  },
];

for (const entry of PATCHES) {
  void test(`patch: ${entry.name}`, async (t) => {
    const bench = toolBench(t);
    const path = join(bench.cwd, "file");
    writeFileSync(path, entry.file);
    const result = await bench.run("patch", {
      path: "file",
      old_string: entry.old,
      new_string: entry.fresh,
      ...(entry.all ? { replace_all: true } : {}),
    });
    assert.equal(result.json.strategy, entry.strategy, result.content);
    assert.equal(readFileSync(path, "utf8"), entry.want);
    assert.equal(result.json.replacements, entry.replacements ?? 1);
    assert.match(result.json.diff, /^@@ /m);
  });
}

void test("patch: ambiguous, absent, unchanged, damaged", async (t) => {
  const bench = toolBench(t);
  const path = join(bench.cwd, "file");
  writeFileSync(path, "let total = 0;\nfor x {\n  total += x;\n}\nfor y {\n  total += x;\n}\n");
  const twice = await bench.run("patch", { path, old_string: "total += x;", new_string: "y" });
  assert.equal(twice.code, "AMBIGUOUS");
  assert.deepEqual(twice.json.lines, [3, 6]);
  const none = await bench.run("patch", { path, old_string: "total -= x;", new_string: "y" });
  assert.equal(none.code, "NO_MATCH");
  assert.deepEqual(
    none.json.nearest.map((place: { line: number }) => place.line),
    [3, 6, 2],
  );
  const same = await bench.run("patch", { path, old_string: "x", new_string: "x" });
  assert.equal(same.code, "NO_CHANGE");
  assert.equal(
    (await bench.run("patch", { path: "gone", old_string: "x", new_string: "y" })).code,
    "NOT_FOUND",
  );
  writeFileSync(join(bench.cwd, "latin1"), Buffer.from([0x61, 0xe9, 0x62, 0x0a]));
  assert.equal(
    (await bench.run("patch", { path: "latin1", old_string: "a", new_string: "y" })).code,
    "BINARY",
  );
  assert.deepEqual(readFileSync(join(bench.cwd, "latin1")), Buffer.from([0x61, 0xe9, 0x62, 0x0a]));
});

void test("writes outside the working directory, to the persona and unattended to memory ask; refused ones do not", async (t) => {
  const bench = toolBench(t);
  const assess = async (path: string, from = bench): Promise<string | null> => {
    const { dangerous } = await from
      .tool("write_file")
      .assess({ path, content: "x" }, { cwd: from.cwd, sessionId: "s" });
    return dangerous?.id ?? null;
  };
  symlinkSync("/tmp", join(bench.cwd, "out"));
  assert.equal(await assess("in/side.txt"), null);
  assert.equal(await assess("../x.txt"), "write/outside-cwd");
  assert.equal(await assess("out/x.txt"), "write/outside-cwd");
  assert.equal(await assess(join(bench.home, "SOUL.md")), "write/persona");
  assert.equal(await assess(join(bench.home, ".env")), null);
  const alone = toolBench(t, { unattended: true });
  assert.equal(
    await assess(join(alone.home, "memories/MEMORY.md"), alone),
    "write/memory-unattended",
  );
});
