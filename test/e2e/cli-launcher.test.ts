// The launcher (agent.md §1.1) as a real process: rows 1, 2, 4 of §12.2, profiles, exit codes, --json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { LAUNCHER, PROJECT, runCli } from "../kit/cli.ts";
import { tempDir } from "../kit/temp-dir.ts";

test("--version works with a broken and with an unreadable configuration", async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "config.yaml"), "{");
  for (const words of [
    ["--version"],
    ["-V"],
    ["version"],
    ["-m", "x", "--version"],
    ["-p", "work", "-V"],
  ]) {
    const result = await runCli(words, { home });
    assert.equal(result.code, 0, words.join(" "));
    assert.equal(result.stderr, "");
    const lines = result.stdout.trimEnd().split("\n");
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? "", /^hermes \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d, unknown build\)$/);
    assert.equal(lines[1], `node ${process.version}`);
    assert.equal(lines[2], `project ${realpathSync(PROJECT)}`);
  }
  const json = await runCli(["--json", "version"], { home });
  const object = JSON.parse(json.stdout) as Record<string, unknown>;
  assert.deepEqual(Object.keys(object), [
    "schema",
    "version",
    "release_date",
    "node",
    "commit",
    "project",
  ]);
});

test("a home that cannot be entered does not stop --version and --help", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs to be root to give the directory away");
  const home = tempDir(t);
  mkdirSync(join(home, "locked"), { mode: 0o700 });
  const options = { home: join(home, "locked"), cwd: "/", uid: 65534 };
  for (const words of [["--version"], ["help", "chat"]]) {
    const result = await runCli(words, options);
    assert.deepEqual([result.code, result.stderr], [0, ""]);
  }
  return undefined;
});

test("an old Node is told in one line, exit 78", async (t) => {
  const old = oldNode();
  if (old === null) return t.skip("no Node older than 24 on PATH");
  const home = tempDir(t);
  const result = await runCli(["status"], { home, node: old.path });
  assert.equal(result.code, 78);
  assert.equal(result.stdout, "");
  assert.equal(result.stderr.trimEnd().split("\n").length, 1);
  assert.ok(
    result.stderr.includes(`${old.version} (`) && result.stderr.includes("npm start"),
    result.stderr,
  );
  return undefined;
});

function oldNode(): { path: string; version: string } | null {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder.includes("node_modules")) continue;
    try {
      const path = join(folder, "node");
      const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
      if (Number(version.slice(1).split(".")[0]) < 24) return { path, version };
    } catch {
      // No node here.
    }
  }
  return null;
}

const NEEDS_TERMINAL: readonly (readonly [words: readonly string[], hint: string])[] = [
  [[], "hermes chat -q"],
  [["chat"], "hermes chat -q"],
  [["setup"], "hermes model set"],
  [["model"], "hermes model set"],
  [["memory", "clear"], "-y"],
];

test("nothing asks without a terminal: 64, hint on stderr, nothing on stdout and nothing made", async (t) => {
  for (const [words, hint] of NEEDS_TERMINAL) {
    const home = tempDir(t);
    const result = await runCli(words, { home });
    assert.equal(result.code, 64, words.join(" "));
    assert.equal(result.stdout, "", words.join(" "));
    assert.ok(result.stderr.includes(hint), result.stderr);
    assert.deepEqual(readdirSync(home), [], words.join(" "));
  }
});

test("unknown words end with 64 and the nearest known ones", async (t) => {
  const home = tempDir(t);
  const cases = [
    [["sesions"], "sessions"],
    [["sessions", "lst"], "list"],
    [["help", "stauts"], "status"],
    [["chat", "--formt", "text"], "--format"],
    [["gatewy", "run"], "gateway"],
  ] as const;
  for (const [words, expected] of cases) {
    const result = await runCli(words, { home });
    assert.equal(result.code, 64, words.join(" "));
    assert.ok(result.stderr.includes(expected), result.stderr);
  }
});

test("--help is printed for a command at any place, and a value that reads so is no question", async (t) => {
  const home = tempDir(t);
  for (const words of [
    ["help", "sessions", "list"],
    ["sessions", "list", "--help"],
    ["-m", "x", "sessions", "list", "-h"],
  ]) {
    const result = await runCli(words, { home });
    assert.equal(result.code, 0);
    assert.match(result.stdout, /^Usage: hermes sessions list/);
  }
  const value = await runCli(["--provider", "demo", "-q", "--help"], { home });
  assert.equal(value.code, 0);
  assert.match(value.stdout, /You said: --help/);
});

test("-p: unknown names end with 66, name the real ones and make nothing", async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, "profiles", "work"), { recursive: true });
  writeFileSync(join(home, "profiles", "work", "SOUL.md"), "");
  mkdirSync(join(home, "profiles", "half"));
  for (const words of [
    ["-p", "nope", "status"],
    ["status", "--profile=nope"],
    ["-p", "half", "status"],
  ]) {
    const result = await runCli(words, { home });
    assert.equal(result.code, 66, words.join(" "));
    assert.ok(result.stderr.includes("default, work"), result.stderr);
  }
  assert.deepEqual(readdirSync(join(home, "profiles")).sort(), ["half", "work"]);
});

test("-p works before and after the command, not behind a bare --; active_profile stands in for it", async (t) => {
  const home = tempDir(t);
  assert.equal((await runCli(["profile", "create", "Work"], { home })).code, 0);
  const path = join(home, "profiles", "work", "config.yaml");
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["-p", "work", "config", "path"], path],
    [["config", "path", "-p", "WORK"], path],
    [["config", "--profile=work", "path"], path],
    [["config", "path"], join(home, "config.yaml")],
  ];
  for (const [words, expected] of cases) {
    assert.equal((await runCli(words, { home })).stdout.trim(), expected, words.join(" "));
  }
  assert.equal((await runCli(["config", "get", "--", "-p"], { home })).code, 64);
  assert.equal((await runCli(["profile", "use", "work"], { home })).code, 0);
  assert.equal((await runCli(["config", "path"], { home })).stdout.trim(), path);
  const back = await runCli(["-p", "default", "config", "path"], { home });
  assert.equal(back.stdout.trim(), join(home, "config.yaml"));
});

test("root in the image goes on as hermes or not at all", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs to be root");
  const project = tempDir(t);
  mkdirSync(join(project, "bin"));
  copyFileSync(LAUNCHER, join(project, "bin", "hermes.mjs"));
  writeFileSync(join(project, ".install_method"), "docker\n");
  const run = (env: NodeJS.ProcessEnv): { status: number | null; stderr: string } => {
    try {
      execFileSync(process.execPath, [join(project, "bin", "hermes.mjs"), "config", "path"], {
        env: { PATH: process.env["PATH"], ...env },
        stdio: ["ignore", "ignore", "pipe"],
      });
      return { status: 0, stderr: "" };
    } catch (error) {
      const { status, stderr } = error as { status: number; stderr: Buffer };
      return { status, stderr: stderr.toString() };
    }
  };
  const dropped = run({ HERMES_HOME: project });
  assert.equal(dropped.status, 77);
  assert.match(dropped.stderr, /hermes/);
  // The switch keeps root: it gets as far as looking for the program, which this project has not.
  assert.match(
    run({ HERMES_HOME: project, HERMES_DOCKER_EXEC_AS_ROOT: "1" }).stderr,
    /Cannot find module/,
  );
  return undefined;
});

test("--json: exactly one object, errors too", async (t) => {
  const home = tempDir(t);
  const cases = [
    [["status", "--json"], 0],
    [["--json", "doctor"], 1],
    [["profile", "list", "--json"], 0],
    [["sessions", "list", "--json"], 0],
    [["config", "check", "--json"], 0],
    [["config", "get", "agent.max_turns", "--json"], 0],
    [["model", "list", "--json"], 0],
    [["nothing", "--json"], 64],
    [["sessions", "show", "nope", "--json"], 1],
  ] as const;
  for (const [words, code] of cases) {
    const result = await runCli(words, { home });
    assert.equal(result.code, code, `${words.join(" ")}: ${result.stdout}${result.stderr}`);
    const object = JSON.parse(result.stdout) as { schema: number; error?: { exit: number } };
    assert.equal(object.schema, 1, words.join(" "));
    if (code !== 0 && words[1] !== "doctor") assert.equal(object.error?.exit, code);
  }
});
