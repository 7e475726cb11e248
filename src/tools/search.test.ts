// search_files with our own walker and through ripgrep's JSON (agent.md §5.1).
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { toolBench, toolSettings, type ToolBench } from "../../test/kit/tool-box.ts";

/** PATH without ripgrep, so that the walker is what runs. */
const noRipgrep = { env: { PATH: "/nonexistent" }, toolsets: ["file"], settings: toolSettings };

function fill(bench: ToolBench, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(bench.cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const TREE = {
  ".gitignore": "dist/\n*.log\n!keep.log\n/only-root\n",
  "a.ts": "const one = 1;\nconst two = 2;\nexport { one };\n",
  "src/b.ts": "import { one } from '../a.ts';\n",
  "src/.gitignore": "secret-*\n",
  "src/secret-one.ts": "const one = 3;\n",
  "src/only-root": "one\n",
  "only-root": "one\n",
  "dist/c.ts": "const one = 4;\n",
  "x.log": "one\n",
  "keep.log": "one\n",
  ".hidden/d.ts": "one\n",
  ".git/config": "one\n",
  ".env": "one=1\n",
};

void test("content: .gitignore, .git and protected files are left out, matches are sorted", async (t) => {
  const bench = toolBench(t, noRipgrep);
  fill(bench, TREE);
  const { json } = await bench.run("search_files", { pattern: "\\bone\\b" });
  assert.deepEqual(
    json.matches.map((match: { path: string; line: number }) => `${match.path}:${match.line}`),
    ["a.ts:1", "a.ts:3", "keep.log:1", ".hidden/d.ts:1", "src/b.ts:1", "src/only-root:1"],
  );
  assert.equal(json.total, 6);
  assert.equal(json.truncated, false);
  assert.equal(json.matches[0].text, "const one = 1;");
});

void test("glob, context, limit, offset, one file", async (t) => {
  const bench = toolBench(t, noRipgrep);
  fill(bench, TREE);
  const ts = await bench.run("search_files", { pattern: "one", glob: "*.ts" });
  assert.equal(ts.json.total, 4);
  const page = await bench.run("search_files", {
    pattern: "one",
    glob: "*.ts",
    limit: 1,
    offset: 1,
  });
  assert.equal(page.json.matches.length, 1);
  assert.equal(page.json.matches[0].line, 3);
  assert.equal(page.json.truncated, true);
  const around = await bench.run("search_files", { pattern: "two", context: 1 });
  assert.equal(
    around.json.matches[0].text,
    "1- const one = 1;\n2: const two = 2;\n3- export { one };",
  );
  const single = await bench.run("search_files", { pattern: "one", path: "a.ts" });
  assert.equal(single.json.total, 2);
});

void test("files: by part of the name and by glob", async (t) => {
  const bench = toolBench(t, noRipgrep);
  fill(bench, TREE);
  const part = await bench.run("search_files", { pattern: "B.t", target: "files" });
  assert.deepEqual(part.json.matches, [{ path: "src/b.ts" }]);
  const glob = await bench.run("search_files", { pattern: "*.ts", target: "files" });
  assert.deepEqual(
    glob.json.matches.map((match: { path: string }) => match.path),
    ["a.ts", ".hidden/d.ts", "src/b.ts"],
  );
});

void test("bad patterns, missing paths, binary files, links out, patterns that never end", async (t) => {
  const bench = toolBench(t, noRipgrep);
  fill(bench, { "a.txt": `${"a".repeat(200)}!\n`, "b.bin": "one\0two" });
  symlinkSync("/etc", join(bench.cwd, "out"));
  assert.equal((await bench.run("search_files", { pattern: "(" })).code, "BAD_PATTERN");
  assert.equal((await bench.run("search_files", { pattern: "x", path: "gone" })).code, "NOT_FOUND");
  assert.equal((await bench.run("search_files", { pattern: "one|root" })).json.total, 0);
  assert.equal((await bench.run("search_files", { pattern: "^(a+)+$" })).code, "PATTERN_TOO_SLOW");
  assert.equal((await bench.run("search_files", { pattern: "\\-" })).ok, true);
});

/** Stands for ripgrep: prints what the real one prints, and its arguments beside it. */
const FAKE_RIPGREP = `#!/bin/sh
printf '%s\\n' "$@" > "$0.args"
cat <<'EOF'
{"type":"begin","data":{"path":{"text":"ROOT/a.ts"}}}
{"type":"context","data":{"path":{"text":"ROOT/a.ts"},"lines":{"text":"zero\\n"},"line_number":1,"absolute_offset":0,"submatches":[]}}
{"type":"match","data":{"path":{"text":"ROOT/a.ts"},"lines":{"text":"one\\r\\n"},"line_number":2,"absolute_offset":5,"submatches":[]}}
{"type":"match","data":{"path":{"text":"ROOT/b.ts"},"lines":{"bytes":"b27pCg=="},"line_number":9,"absolute_offset":5,"submatches":[]}}
{"type":"match","data":{"path":{"text":"ROOT/.env"},"lines":{"text":"one=1\\n"},"line_number":1,"absolute_offset":5,"submatches":[]}}
{"type":"summary","data":{}}
EOF
`;

void test("ripgrep where it is found: its JSON is read, protected files are dropped, the pattern is one argument", async (t) => {
  const shim = toolBench(t).cwd;
  const program = join(shim, "rg");
  const bench = toolBench(t, {
    env: { PATH: [shim, "/usr/bin", "/bin"].join(delimiter) },
    toolsets: ["file"],
  });
  writeFileSync(program, FAKE_RIPGREP.replaceAll("ROOT", bench.cwd), { mode: 0o755 });
  const plain = await bench.run("search_files", { pattern: "--pre=x one", context: 1 });
  assert.deepEqual(plain.json.matches, [
    { path: "a.ts", line: 2, text: "1- zero\n2: one" },
    { path: "b.ts", line: 9, text: "9: on\uFFFD" },
  ]);
  const args = readFileSync(`${program}.args`, "utf8").split("\n");
  assert.ok(args.includes("--regexp=--pre=x one"));
  assert.ok(args.includes("--context=1"));
  assert.equal(args.at(-2), bench.cwd);
  assert.equal(args.at(-3), "--");
});

void test("ripgrep: a bad pattern and a crash are told apart", async (t) => {
  const shim = toolBench(t).cwd;
  const bench = toolBench(t, {
    env: { PATH: [shim, "/usr/bin", "/bin"].join(delimiter) },
    toolsets: ["file"],
  });
  const program = join(shim, "rg");
  writeFileSync(program, "#!/bin/sh\necho 'regex parse error: unclosed' >&2\nexit 2\n", {
    mode: 0o755,
  });
  assert.equal((await bench.run("search_files", { pattern: "(" })).code, "BAD_PATTERN");
  writeFileSync(program, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  assert.equal((await bench.run("search_files", { pattern: "x" })).code, "SEARCH_FAILED");
});
