// `chat -q` as a real process against the local model server: rows 5, 6, 12, 13 and 59 of agent.md §12.2.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runCli, startCli, type CliOptions } from "../kit/cli.ts";
import { answer, call, REPLY, text } from "../kit/model-reply.ts";
import { startModelServer, type ModelServer, type ScriptStep } from "../kit/model-server.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const KEY = "sk-scripted-0123456789abcdef";

interface Setting {
  readonly server: ModelServer;
  readonly options: CliOptions;
  readonly home: string;
}

/** A home whose model is the scripted server. Titles are made from the first line: the run is over before a model could. */
async function setUp(t: TestContext, script: readonly ScriptStep[], extra = ""): Promise<Setting> {
  const server = await startModelServer(t, script);
  const home = tempDir(t);
  writeFileSync(
    join(home, "config.yaml"),
    `model:\n  provider: custom\n  default: scripted\n  base_url: ${server.baseUrl}\n` +
      `providers:\n  custom:\n    key_env: SCRIPT_API_KEY\n${extra}`,
  );
  return { server, home, options: { home, env: { SCRIPT_API_KEY: KEY } } };
}

const TITLE: ScriptStep = {
  when: { systemIncludes: "title" },
  times: Infinity,
  reply: text("A title"),
};

test("piped: the answer is on stdout, nothing else, exit 0", async (t) => {
  const { server, options } = await setUp(t, [{ reply: text("Hello ", "there.") }, TITLE]);
  const result = await runCli(["chat", "-q", "hi"], options);
  assert.deepEqual([result.code, result.stdout, result.stderr], [0, "Hello there.\n", ""]);
  assert.equal(server.requests[0]?.lastUserText, "hi");
});

test("--query-file: what is no message is refused, however long it is", async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "binary"), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
  writeFileSync(join(home, "long"), "a".repeat(2 * 1024 * 1024));
  const cases: readonly (readonly [path: string, why: RegExp])[] = [
    ["/dev/zero", /longer than a message/],
    ["long", /longer than a message/],
    ["binary", /not UTF-8/],
    [".", /EISDIR/],
    ["missing", /ENOENT/],
  ];
  for (const [path, why] of cases) {
    const result = await runCli(["chat", "--query-file", path], { home });
    assert.deepEqual([result.code, result.stdout], [64, ""], path);
    assert.match(result.stderr, why);
  }
});

test("a refused configuration says each thing once", async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "config.yaml"), "model: [");
  const { code, stderr } = await runCli(["chat", "-q", "hi"], { home });
  assert.equal(code, 78);
  assert.equal(stderr.split("is broken").length, 2, stderr);
  assert.match(stderr, /; Correct the file/);
});

test("no model configured: 78, one line with the ways out, and the usage file is written", async (t) => {
  const home = tempDir(t);
  const usage = join(home, "usage.json");
  const result = await runCli(["-z", "hi", "--usage-file", usage], { home });
  assert.equal(result.code, 78);
  assert.equal(result.stdout, "");
  assert.equal(result.stderr.trimEnd().split("\n").length, 1);
  assert.match(result.stderr, /hermes model/);
  const report = JSON.parse(readFileSync(usage, "utf8")) as Record<string, unknown>;
  assert.deepEqual(
    [report["outcome"], report["api_calls"], "text" in report],
    ["failed", 0, false],
  );
});

test("a rejected key: 78, named, and its value nowhere", async (t) => {
  const { home, options } = await setUp(t, [{ reply: REPLY.unauthorized }]);
  const result = await runCli(["chat", "-q", "hi"], options);
  assert.equal(result.code, 78);
  assert.match(result.stderr, /SCRIPT_API_KEY/);
  for (const seen of [result.stdout, result.stderr, ...logs(home)]) {
    assert.ok(!seen.includes(KEY) && !seen.includes("sk-scripted-secret-0000"), seen);
  }
});

test("four times 500: 1", async (t) => {
  const retries = "agent:\n  api_max_retries: 3\n";
  const { server, options } = await setUp(t, [{ reply: REPLY.server, times: 4 }], retries);
  const result = await runCli(["chat", "-q", "hi"], options);
  assert.equal(result.code, 1);
  assert.equal(result.stdout, "");
  assert.equal(server.requests.length, 4);
});

test("--run-budget: 124, what was produced is printed and saved", async (t) => {
  const { home, options } = await setUp(t, [
    { reply: answer({ text: "Half an answer" }, { hold: "never" }) },
  ]);
  const result = await runCli(["chat", "-q", "hi", "--run-budget", "1"], options);
  assert.equal(result.code, 124);
  assert.equal(result.stdout, "Half an answer\n");
  const shown = await runCli(["sessions", "show", "latest"], { home });
  assert.match(shown.stdout, /Half an answer/);
});

test("-m means the same before and after the command", async (t) => {
  const { server, options } = await setUp(t, [{ reply: text("ok"), times: 2 }, TITLE]);
  for (const words of [
    ["-m", "other", "chat", "-q", "hi"],
    ["chat", "-q", "hi", "-m", "other"],
  ]) {
    assert.equal((await runCli(words, options)).code, 0);
  }
  const bodies = server.requests
    .filter((request) => request.lastUserText === "hi")
    .map((request) => request.bodyText);
  assert.equal(bodies.length, 2);
  assert.equal(JSON.parse(bodies[0] ?? "{}").model, "other");
  assert.equal(bodies[0], bodies[1]);
});

test("stream-json: one event per line, the result last", async (t) => {
  const { options } = await setUp(t, [{ reply: text("one ", "two") }, TITLE]);
  const result = await runCli(["chat", "-q", "hi", "--format", "stream-json"], options);
  const events = result.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const deltas = events
    .filter((event) => event["type"] === "text-delta")
    .map((event) => event["text"]);
  assert.equal(deltas.join(""), "one two");
  const last = events.at(-1) ?? {};
  assert.deepEqual(
    [
      last["type"],
      last["outcome"],
      last["text"],
      last["provider"],
      last["model"],
      last["api_calls"],
    ],
    ["result", "done", "one two", "custom", "scripted", 1],
  );
  assert.match(String(last["session_id"]), /^\d{8}_\d{6}_[0-9a-f]{6}$/);
});

test("-c goes on with the conversation; a message can come from stdin", async (t) => {
  const { server, options } = await setUp(t, [
    { reply: text("first") },
    { reply: text("second") },
    TITLE,
  ]);
  assert.equal((await runCli(["chat", "-q", "one"], options)).code, 0);
  const next = await runCli(["-c", "chat", "--query-file", "-"], { ...options, input: "two\n" });
  assert.equal(next.stdout, "second\n");
  const texts = server.requests.at(-1)?.bodyText ?? "";
  assert.ok(texts.includes("first") && texts.includes("one"), texts);
});

test("SIGINT while streaming: 130, what was shown is saved as interrupted", async (t) => {
  const { home, options } = await setUp(t, [
    { reply: answer({ text: "Half" }, { hold: "never" }) },
  ]);
  const run = startCli(["chat", "-q", "hi", "--format", "stream-json"], options);
  await until("some text", () => run.stdout().includes("Half"), 60_000);
  const sent = performance.now();
  run.child.kill("SIGINT");
  const result = await run.ended;
  assert.equal(result.code, 130);
  assert.ok(performance.now() - sent < 30_000);
  const shown = await runCli(["sessions", "show", "latest"], { home });
  assert.match(shown.stdout, /interrupted[\s\S]*Half/);
});

test("SIGTERM in a running command: 143 and no child left", async (t) => {
  const mark = "86399.25";
  const { options } = await setUp(t, [
    { reply: answer(call("terminal", { command: `sleep ${mark}`, timeout: 600 })) },
  ]);
  const run = startCli(["chat", "-q", "wait", "--format", "stream-json", "--yolo"], options);
  await until("the command runs", () => sleepers(mark).length > 0, 60_000);
  run.child.kill("SIGTERM");
  assert.equal((await run.ended).code, 143);
  assert.deepEqual(sleepers(mark), []);
});

test("kill -9 in the middle of a tool, then resume: not run again, outcome unknown", async (t) => {
  const mark = "86398.75";
  const { server, home, options } = await setUp(t, [
    {
      reply: answer(call("terminal", { command: `touch ran-once && sleep ${mark}`, timeout: 600 })),
    },
    { reply: text("Understood.") },
    TITLE,
  ]);
  const run = startCli(["chat", "-q", "go"], options);
  await until("the command runs", () => sleepers(mark).length > 0, 60_000);
  run.child.kill("SIGKILL");
  await run.ended;
  for (const pid of sleepers(mark)) process.kill(pid, "SIGKILL");
  const flag = join(home, "ran-once");
  assert.ok(existsSync(flag));
  writeFileSync(flag, "");
  const resumed = await runCli(["-r", "latest", "chat", "-q", "what happened?"], options);
  assert.deepEqual([resumed.code, resumed.stdout], [0, "Understood.\n"]);
  assert.match(server.requests.at(-1)?.bodyText ?? "", /outcome unknown/);
  assert.equal(resumed.stderr.trimEnd().split("\n").length, 1, `one notice: ${resumed.stderr}`);
  assert.equal(sleepers(mark).length, 0);
});

/** Pids of processes whose command line has this mark. */
function sleepers(mark: string): number[] {
  return readdirNumbers().filter((pid) => commandLine(pid).startsWith(`sleep\0${mark}`));
}

function readdirNumbers(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function logs(home: string): string[] {
  const folder = join(home, "logs");
  return existsSync(folder)
    ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))
    : [];
}

test("a reader of stdout that goes away is no failure", async (t) => {
  const { options } = await setUp(t, [{ reply: text("x".repeat(200_000)) }, TITLE]);
  const run = startCli(["chat", "-q", "hi", "--format", "stream-json"], options);
  run.child.stdout?.once("data", () => run.child.stdout?.destroy());
  assert.equal((await run.ended).code, 0);
});

test("dump and logs hold no secret and no message", async (t) => {
  const { home, options } = await setUp(t, [
    { reply: text("a-private-answer") },
    { reply: REPLY.unauthorized },
    TITLE,
  ]);
  await runCli(["chat", "-q", "a-private-question"], options);
  await runCli(["chat", "-q", "a-private-question"], options);
  const dump = await runCli(["dump", "--full"], options);
  assert.equal(dump.code, 0);
  assert.match(dump.stdout, /^## versions\nhermes /);
  for (const seen of [dump.stdout, ...logs(home)]) {
    for (const secret of [
      KEY,
      Buffer.from(KEY).toString("base64"),
      "a-private-question",
      "a-private-answer",
    ]) {
      assert.ok(!seen.includes(secret), secret);
    }
  }
  assert.ok(!dump.stdout.includes(home), "no path of the machine");
});
