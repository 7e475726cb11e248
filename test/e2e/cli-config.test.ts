// Settings, keys, sessions, memory and doctor from the command line as real processes: row 7 of agent.md §12.2 and around it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runCli, type CliResult } from "../kit/cli.ts";
import { tempDir } from "../kit/temp-dir.ts";

type Run = (words: string, input?: string) => Promise<CliResult>;

function setUp(t: TestContext): { home: string; run: Run } {
  const home = tempDir(t);
  const run: Run = (words, input) =>
    runCli(words.split(" "), { home, ...(input === undefined ? {} : { input }) });
  return { home, run };
}

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("a key goes to .env only, 0600, other lines byte-equal, never echoed", async (t) => {
  const { home, run } = setUp(t);
  const before = "# mine\nexport A='x y'\nT=abc#def\r\n";
  writeFileSync(join(home, ".env"), before, { mode: 0o600 });
  const key = "sk-test-0123456789";
  const result = await run("config set OPENAI_API_KEY -", `${key}\n`);
  assert.equal(result.code, 0);
  assert.ok(!`${result.stdout}${result.stderr}`.includes(key));
  assert.equal(readFileSync(join(home, ".env"), "utf8"), `${before}OPENAI_API_KEY=${key}\r\n`);
  assert.equal(statSync(join(home, ".env")).mode & 0o777, 0o600);
  assert.ok(!existsSync(join(home, "config.yaml")));
  for (const words of ["config show", "config get OPENAI_API_KEY", "status", "doctor", "dump"]) {
    const shown = await run(words);
    assert.ok(!`${shown.stdout}${shown.stderr}`.includes(key), words);
  }
  assert.equal((await run("config get OPENAI_API_KEY")).stdout, "set\n");
  assert.equal((await run("config unset OPENAI_API_KEY")).code, 0);
  assert.equal(readFileSync(join(home, ".env"), "utf8"), before);
});

test("set, get, unset; YAML values; unknown keys are kept and warned about", async (t) => {
  const { home, run } = setUp(t);
  assert.equal((await run("config set agent.max_turns 7")).code, 0);
  assert.equal((await run("config get agent.max_turns")).stdout, "7\n");
  const wrong = await run("config set agent.max_turns many");
  assert.equal(wrong.code, 64);
  assert.match(wrong.stderr, /agent\.max_turns/);
  const unknown = await run("config set agent.max_turn 9");
  assert.equal(unknown.code, 0);
  assert.match(unknown.stderr, /Nearest: agent\.max_turns/);
  assert.match(readFileSync(join(home, "config.yaml"), "utf8"), /max_turn: 9/);
  const check = await run("config check --json");
  const found = JSON.parse(check.stdout) as { unknown: { key: string }[]; state: string };
  assert.deepEqual(
    [found.state, found.unknown.map((entry) => entry.key)],
    ["ok", ["agent.max_turn"]],
  );
  assert.equal((await run("config unset agent.max_turns")).code, 0);
  assert.equal((await run("config get agent.max_turns")).stdout, "90\n");
  assert.equal((await run("config get nothing.here")).code, 64);
  const edit = await run("config edit");
  assert.deepEqual([edit.code, edit.stdout], [64, `${join(home, "config.yaml")}\n`]);
});

test("a broken file is never replaced: status works, writes are refused", async (t) => {
  const { home, run } = setUp(t);
  const path = join(home, "config.yaml");
  writeFileSync(path, "agent: [\n");
  const status = await run("status --json");
  assert.equal(status.code, 0);
  const report = JSON.parse(status.stdout) as { config: { state: string; problems: unknown[] } };
  assert.equal(report.config.state, "refused");
  assert.ok(report.config.problems.length > 0);
  assert.equal((await run("status --check")).code, 1);
  assert.equal((await run("config set agent.max_turns 7")).code, 78);
  assert.equal((await run("chat -q hi")).code, 78);
  assert.equal((await run("doctor")).code, 1);
  assert.equal(readFileSync(path, "utf8"), "agent: [\n");
});

test("model set and --demo; a wrong provider is refused before anything is written", async (t) => {
  const { home, run } = setUp(t);
  const wrong = await run("model set nowhere m");
  assert.equal(wrong.code, 78);
  assert.ok(!existsSync(join(home, "config.yaml")));
  const port = await closedPort();
  assert.equal((await run(`model set custom m1 --base-url http://127.0.0.1:${port}/v1`)).code, 0);
  const report = JSON.parse((await run("status --json")).stdout) as { model: object };
  assert.deepEqual(
    { ...report.model, context: 0 },
    { provider: "custom", id: "m1", context: 0, source: "config", demo: false },
  );
  const dead = await run("model test");
  assert.equal(dead.code, 1);
  assert.ok(dead.stderr.includes(`127.0.0.1:${port}`), dead.stderr);
  assert.equal((await run("model --demo")).code, 0);
  assert.match((await run("status")).stdout, /DEMO \(not an AI\)/);
  assert.doesNotMatch(readFileSync(join(home, "config.yaml"), "utf8"), /127\.0\.0\.1/);
  assert.equal((await run("model test")).code, 0);
});

test("sessions: list, search, rename, export and import elsewhere, delete, prune", async (t) => {
  const { run } = setUp(t);
  const empty = await run("sessions list --json");
  assert.deepEqual(JSON.parse(empty.stdout), { schema: 1, sessions: [] });
  for (const text of ["apples", "pears"]) {
    assert.equal((await run(`chat --provider demo -q ${text}`)).code, 0);
  }
  const listed = JSON.parse((await run("sessions list --json")).stdout) as {
    sessions: { id: string; title: string }[];
  };
  assert.equal(listed.sessions.length, 2);
  const [newest, oldest] = listed.sessions;
  const hits = JSON.parse((await run("sessions search apples --json")).stdout) as {
    hits: { session_id: string; snippet: string }[];
  };
  assert.equal(hits.hits[0]?.session_id, oldest?.id);
  assert.match(hits.hits[0]?.snippet ?? "", />>>apples<<</);
  assert.equal((await run(`sessions rename ${oldest?.id} About fruit`)).code, 0);
  const exported = await run("sessions export --all");
  const other = setUp(t);
  const imported = await other.run("sessions import -", exported.stdout);
  assert.match(imported.stdout, /^2 imported, 0 already here/);
  assert.match(
    (await other.run("sessions import -", exported.stdout)).stdout,
    /^0 imported, 2 already here/,
  );
  assert.match((await other.run(`sessions show ${oldest?.id}`)).stdout, /^# About fruit\n/);
  assert.equal((await run(`sessions delete ${newest?.id}`)).code, 64);
  assert.equal((await run(`sessions delete ${newest?.id} -y`)).code, 0);
  assert.equal((await run(`sessions show ${newest?.id}`)).code, 1);
  assert.match(
    (await run("sessions prune --older-than 1 --dry-run")).stderr,
    /^0 sessions would be deleted/,
  );
  assert.match((await run("sessions stats")).stdout, /^1 sessions, 2 messages/);
  assert.equal((await run("sessions check")).code, 0);
  assert.equal((await run("sessions optimize")).code, 0);
});

test("memory: shown with its share used, cleared with a copy kept", async (t) => {
  const { home, run } = setUp(t);
  mkdirSync(join(home, "memories"));
  writeFileSync(join(home, "memories", "USER.md"), "likes tea\n");
  assert.match((await run("memory show")).stdout, /USER\.md: 9 of 1375[\s\S]*likes tea/);
  assert.equal((await run("memory clear user")).code, 64);
  assert.equal((await run("memory clear user -y")).code, 0);
  assert.equal(readFileSync(join(home, "memories", "USER.md"), "utf8"), "");
  assert.equal(readFileSync(join(home, "backups", "USER.md.before-clear"), "utf8"), "likes tea\n");
});

test("model set without a key names the next step, and says no more when the key is there", async (t) => {
  const { run } = setUp(t);
  const first = await run("model set openai gpt-5");
  assert.equal(first.code, 0);
  const [saved = "", next = ""] = first.stderr.trimEnd().split("\n");
  assert.match(saved, /^openai:gpt-5 is the model now/);
  assert.equal(next, "Next, its key (read from stdin): hermes config set OPENAI_API_KEY -");
  const other = await run("model set openai gpt-5 --key-env MY_KEY");
  assert.match(other.stderr, /hermes config set MY_KEY -\n$/);
  assert.equal((await run("config set MY_KEY -", "sk-test-0123456789\n")).code, 0);
  const again = await run("model set openai gpt-5 --key-env MY_KEY");
  assert.deepEqual([again.code, /Next/.test(again.stderr)], [0, false]);
});

test("doctor on a fresh home: what is not made or not set is no finding", async (t) => {
  const { run } = setUp(t);
  await run("model --demo");
  const { code, stdout } = await run("doctor");
  assert.equal(code, 0);
  const folders = stdout.split("\n").filter((line) => line.includes("memories"));
  assert.match(folders[0] ?? "", /^  – not made yet, the first use makes them: memories, .*home$/);
  const unset = stdout.split("\n").filter((line) => line.includes("is not set"));
  const signIn = unset.filter((line) =>
    /^  . (?:nous|self-hosted|basic|drain|metrics):/.test(line),
  );
  assert.ok(signIn.length >= 3, stdout);
  assert.ok(
    signIn.every((line) => line.startsWith("  – ")),
    signIn.join("\n"),
  );
  assert.ok(!/^\d+\. .*(?:made yet|is not set)/m.test(stdout), stdout);
});

test("doctor --fix makes what is missing and closes what is too open; exit follows the errors", async (t) => {
  const { home, run } = setUp(t);
  await run("model --demo");
  writeFileSync(join(home, "state.db"), "");
  writeFileSync(join(home, ".env"), "A=b\n", { mode: 0o644 });
  const before = JSON.parse((await run("doctor --json")).stdout) as {
    sections: { items: { code: string }[] }[];
  };
  const codes = before.sections.flatMap((section) => section.items.map((item) => item.code));
  assert.ok(
    codes.includes("MODE_TOO_OPEN") && codes.includes("DIRECTORY_MISSING"),
    codes.join(" "),
  );
  const fixed = await run("doctor --fix");
  assert.equal(fixed.code, 0, fixed.stdout);
  assert.match(fixed.stderr, /fixed: set mode 600 on .*\.env/);
  assert.equal(statSync(join(home, ".env")).mode & 0o777, 0o600);
  assert.match(fixed.stdout, /No problems found\.|^\d+\./m);
});
