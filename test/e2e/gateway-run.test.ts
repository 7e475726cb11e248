// A real gateway process without a supervisor: its files, its lock, its end.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { PROJECT, runCli, startCli, type CliProcess } from "../kit/cli.ts";
import { freePort } from "../kit/free-port.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

/** The suite may be root; the refusal has its own test. */
const AS_ROOT = { HERMES_ALLOW_ROOT_GATEWAY: "1" };

const HEAVY =
  /^(?:ai|@ai-sdk\/.*|@modelcontextprotocol\/.*|hono|@hono\/.*|grammy|undici|linkedom|ws)$/u;

function state(home: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as Record<
    string,
    unknown
  >;
}

async function start(
  t: TestContext,
  home: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<CliProcess> {
  const gateway = startCli(["gateway", "run", ...args], { home, env: { ...AS_ROOT, ...env } });
  t.after(() => gateway.child.kill("SIGKILL"));
  await until("the gateway is ready", () => /: (running|degraded) /.test(gateway.stderr()), 20_000);
  return gateway;
}

test("state, identity, goodbye and exit code 0", async (t) => {
  const home = tempDir(t);
  const gateway = await start(t, home);
  assert.match(gateway.stderr(), /no platform is configured/);
  const { pid } = gateway.child;
  const record = JSON.parse(readFileSync(join(home, "gateway.pid"), "utf8")) as {
    pid: number;
    home: string;
  };
  assert.equal(record.pid, pid);
  assert.equal(record.home, home);
  assert.equal(state(home)["gateway_state"], "running");
  gateway.child.kill("SIGTERM");
  const end = await gateway.ended;
  assert.equal(end.code, 0);
  assert.equal(end.stdout, "");
  assert.match(end.stderr, /goodbye\n$/);
  assert.equal(existsSync(join(home, "gateway.pid")), false);
  assert.equal(state(home)["gateway_state"], "stopped");
  assert.equal(existsSync(join(home, "gateway_desired.json")), false);
});

test("kill -9 frees the home at once; a stale pid file does not matter", async (t) => {
  const home = tempDir(t);
  const first = await start(t, home);
  first.child.kill("SIGKILL");
  await first.ended;
  assert.equal(existsSync(join(home, "gateway.pid")), true);
  const second = await start(t, home);
  assert.doesNotMatch(second.stderr(), /Another gateway/);
  second.child.kill("SIGINT");
  assert.equal((await second.ended).code, 0);
});

test("a second gateway waits, naming the first, and follows it", async (t) => {
  const home = tempDir(t);
  const first = await start(t, home);
  const second = startCli(["gateway", "run"], { home, env: AS_ROOT });
  t.after(() => second.child.kill("SIGKILL"));
  await until("it waits", () => second.stderr().includes("Another gateway holds"));
  assert.match(second.stderr(), new RegExp(`pid ${first.child.pid}, host .+, since 20`));
  first.child.kill("SIGTERM");
  assert.equal((await first.ended).code, 0);
  await until("the second serves", () => second.stderr().includes(": running "));
  second.child.kill("SIGTERM");
  assert.equal((await second.ended).code, 0);
});

test("--replace ends the first, which says why", async (t) => {
  const home = tempDir(t);
  const first = await start(t, home);
  const second = await start(t, home, ["--replace"]);
  const end = await first.ended;
  assert.equal(end.code, 0);
  assert.match(end.stderr, /asked for: takeover/);
  assert.equal(state(home)["pid"], second.child.pid);
  second.child.kill("SIGTERM");
  await second.ended;
});

test("--replace leaves a gateway of another home alone", async (t) => {
  const home = tempDir(t);
  const first = await start(t, home);
  const path = join(home, "gateway.pid");
  const record = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...record, home: "/elsewhere" }));
  const end = await runCli(["gateway", "run", "--replace"], { home, env: AS_ROOT });
  assert.equal(end.code, 78);
  assert.match(end.stderr, /another home, \/elsewhere/);
  assert.equal(first.child.exitCode, null);
});

test("a broken configuration and root are refused with 78", async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "config.yaml"), "{");
  assert.equal((await runCli(["gateway", "run"], { home, env: AS_ROOT })).code, 78);
  if (process.getuid?.() !== 0) return t.diagnostic("root is refused: only tried as root");
  const end = await runCli(["gateway"], { home: tempDir(t) });
  assert.equal(end.code, 78);
  assert.match(end.stderr, /HERMES_ALLOW_ROOT_GATEWAY/);
});

test("an idle gateway has loaded none of the heavy packages", async (t) => {
  const home = tempDir(t);
  const list = join(home, "modules.txt");
  const gateway = await start(t, home, [], {
    NODE_OPTIONS: `--import=${join(PROJECT, "test", "fixtures", "list-modules.ts")}`,
    TEST_MODULE_LIST: list,
  });
  gateway.child.kill("SIGTERM");
  await gateway.ended;
  const loaded = readFileSync(list, "utf8");
  assert.match(loaded, /src\/gateway\/run\.ts/);
  assert.match(loaded, /node_modules\/pino\//);
  const packages = loaded.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g);
  const heavy = [...new Set(packages.map((match) => match[1] ?? ""))].filter((name) =>
    HEAVY.test(name),
  );
  assert.deepEqual(heavy, []);
});

const KEY = "sixteen-characters-at-least";

/** A gateway with the API server and the demo model, and a turn whose tool runs for three seconds. */
async function startBusy(t: TestContext, drainSeconds: number) {
  const home = tempDir(t);
  const port = await freePort();
  writeFileSync(
    join(home, "config.yaml"),
    `model: {provider: demo}\nagent: {restart_drain_timeout: ${drainSeconds}}\nplatforms: {api_server: {port: ${port}}}\n`,
  );
  const gateway = await start(t, home, [], { API_SERVER_KEY: KEY });
  const answer = fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      model: "hermes-agent",
      messages: [{ role: "user", content: "run sleep 3; echo slept" }],
    }),
  });
  answer.catch(() => undefined);
  await until("the tool runs", () => state(home)["active_agents"] === 1);
  return { home, gateway, answer };
}

test("row 38: a turn is given the drain time, and its answer is delivered", async (t) => {
  const { home, gateway, answer } = await startBusy(t, 5);
  const began = performance.now();
  gateway.child.kill("SIGTERM");
  await until("it drains", () => state(home)["gateway_state"] === "draining");
  const response = await answer;
  assert.equal(response.status, 200);
  assert.match(await response.text(), /slept/);
  assert.equal((await gateway.ended).code, 0);
  assert.ok(performance.now() - began <= 7000);
});

test("row 38: without drain time the turn is interrupted and saved; its tool is gone", async (t) => {
  const { home, gateway, answer } = await startBusy(t, 0);
  gateway.child.kill("SIGTERM");
  const response = await answer.catch(() => null);
  assert.ok(response === null || response.status === 503);
  assert.equal((await gateway.ended).code, 0);
  const { stdout } = await runCli(["sessions", "export", "--all"], { home });
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const messages = rows.filter((row) => row["type"] === "message");
  assert.deepEqual(
    messages.map((row) => row["role"]),
    ["user", "assistant", "tool"],
  );
  assert.match(String(messages[2]?.["content"]), /"interrupted":true/);
});
