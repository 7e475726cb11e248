// `hermes gateway start|stop|restart|status|list` and `hermes profile …` where nothing supervises, with real gateways.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runCli, startCli, type CliResult } from "../kit/cli.ts";
import { freePort } from "../kit/free-port.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const KEY = "sixteen-characters-at-least";

interface Home {
  readonly home: string;
  run(...args: string[]): Promise<CliResult>;
  json(...args: string[]): Promise<Record<string, unknown> & { code: number | null }>;
}

function newHome(t: TestContext): Home {
  const env = { HERMES_ALLOW_ROOT_GATEWAY: "1" };
  const run: Home["run"] = (...args) => runCli(args, { home, env });
  // Before the directory's own removal: hooks run in the order in which they were set.
  t.after(async () => void (await run("gateway", "stop", "--all")));
  const home = tempDir(t);
  return {
    home,
    run,
    async json(...args) {
      const { stdout, code } = await run(...args, "--json");
      return { ...(JSON.parse(stdout) as Record<string, unknown>), code };
    },
  };
}

interface Service {
  readonly state: string;
  readonly pid: number | null;
  readonly desired: string | null;
}

const serviceOf = (body: Record<string, unknown>): Service => body["service"] as Service;

test("start, status, restart, stop: each says the truth, and what was wanted is kept", async (t) => {
  const { home, run, json } = newHome(t);
  const started = await json("gateway", "start");
  assert.equal(started.code, 0);
  assert.equal(serviceOf(started).state, "ready");
  const again = await json("gateway", "start");
  assert.equal(serviceOf(again).pid, serviceOf(started).pid);
  const shown = await json("gateway", "status", "--deep");
  assert.equal(serviceOf(shown).state, "ready");
  assert.equal((shown["desired"] as { desired: string }).desired, "running");
  assert.equal((shown["identity"] as { pid: number }).pid, serviceOf(started).pid);
  const restarted = await json("gateway", "restart");
  assert.equal(restarted.code, 0);
  assert.notEqual(serviceOf(restarted).pid, serviceOf(started).pid);
  const stopped = await run("gateway", "stop");
  assert.equal(stopped.code, 0);
  assert.match(stopped.stdout, /^gateway default: stopped/);
  assert.equal((await run("gateway", "stop")).code, 0);
  const after = await json("gateway", "status");
  assert.deepEqual([serviceOf(after).state, serviceOf(after).desired], ["stopped", "stopped"]);
  assert.match(
    (await run("gateway", "list")).stdout,
    /^gateway default: stopped.*\nmanager: none\n$/,
  );
  assert.equal(existsSync(join(home, "gateway.pid")), false);
});

test("a gateway that is refused: 78, and its way out is named", async (t) => {
  const { home, run } = newHome(t);
  writeFileSync(join(home, "config.yaml"), "terminal:\n  backend: docker\n");
  const { code, stderr } = await run("gateway", "start");
  assert.equal(code, 78);
  assert.match(stderr, /gateway-output\.log/);
  assert.match(readFileSync(join(home, "logs", "gateway-output.log"), "utf8"), /terminal\.backend/);
});

test("unknown profiles mint nothing", async (t) => {
  const { home, run } = newHome(t);
  const { code, stderr } = await run("-p", "nosuch", "gateway", "start");
  assert.equal(code, 66);
  assert.match(stderr, /There are: default/);
  assert.equal(existsSync(join(home, "profiles")), false);
});

test("row 50: a clone and its source both answer; --all; rename and delete while running", async (t) => {
  const { home, run, json } = newHome(t);
  const port = await freePort();
  assert.equal((await run("config", "set", "API_SERVER_KEY", KEY)).code, 0);
  assert.equal((await run("config", "set", "platforms.api_server.port", String(port))).code, 0);
  const made = await json("profile", "create", "work", "--clone", "--no-alias");
  assert.equal(made.code, 0);
  const [assigned] = made["ports"] as { platform: string; port: number }[];
  assert.equal(assigned?.platform, "api_server");
  const other = await freePort();
  const set = async (...args: string[]): Promise<void> =>
    assert.equal((await run("-p", "work", "config", "set", ...args)).code, 0);
  assert.doesNotMatch(
    readFileSync(join(home, "profiles", "work", ".env"), "utf8"),
    /API_SERVER_KEY=s/,
  );
  await set("API_SERVER_KEY", `${KEY}-2`);
  await set("platforms.api_server.port", String(other));
  const all = await json("gateway", "start", "--all");
  assert.equal(all.code, 0, JSON.stringify(all));
  for (const at of [port, other])
    assert.equal((await fetch(`http://127.0.0.1:${at}/health`)).status, 200);
  assert.equal((await run("profile", "rename", "work", "renamed")).code, 0);
  assert.equal((await fetch(`http://127.0.0.1:${other}/health`)).status, 200);
  assert.equal((await run("profile", "delete", "renamed")).code, 64);
  assert.equal((await run("profile", "delete", "renamed", "-y")).code, 0);
  await assert.rejects(fetch(`http://127.0.0.1:${other}/health`));
  assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
  assert.equal((await run("gateway", "stop", "--all")).code, 0);
});

test("row 47: a port that another profile holds is refused by name, the gateway is up and degraded", async (t) => {
  const { home, run, json } = newHome(t);
  const port = String(await freePort());
  await run("config", "set", "API_SERVER_KEY", KEY);
  await run("config", "set", "platforms.api_server.port", port);
  await run("profile", "create", "other", "--no-alias");
  await run("-p", "other", "config", "set", "API_SERVER_KEY", KEY);
  await run("-p", "other", "config", "set", "platforms.api_server.port", port);
  assert.equal((await run("gateway", "start")).code, 0);
  const second = await json("-p", "other", "gateway", "start");
  assert.equal(serviceOf(second).state, "degraded");
  const shown = await json("-p", "other", "gateway", "status");
  const platforms = shown["platforms"] as Record<string, { state: string; error_message: string }>;
  assert.equal(platforms["api_server"]?.state, "refused");
  assert.match(platforms["api_server"]?.error_message ?? "", /taken by profile default/);
  assert.equal(existsSync(join(home, "profiles", "other", "gateway.pid")), true);
});

test("bad names by the command line", async (t) => {
  const { run, home } = newHome(t);
  for (const name of ["default", "gateway", "a b", "..", "x".repeat(65), "Ünï", "-"]) {
    const { code } = await run("profile", "create", "--no-alias", "--", name);
    assert.equal(code, 64, name);
  }
  assert.equal(existsSync(join(home, "profiles")), false);
});

test("bad names and clones by the API", async (t) => {
  const { home, run } = newHome(t);
  const port = await freePort();
  await run("config", "set", "API_SERVER_KEY", KEY);
  const dashboard = startCli(["dashboard", "--no-open", "--port", String(port)], {
    home,
    env: { HERMES_DASHBOARD_SESSION_TOKEN: KEY },
  });
  const url = `http://127.0.0.1:${port}`;
  t.after(() => dashboard.child.kill("SIGKILL"));
  await until("it answers", async () => (await fetch(`${url}/api/health`)).ok, 20_000);
  const headers = { "Content-Type": "application/json", "X-Hermes-Session-Token": KEY };
  const post = async (body: object): Promise<number> => {
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(`${url}/api/profiles`, init)).status;
  };
  for (const name of ["default", "gateway", "a b", "..", "x".repeat(65), "Ünï", ""])
    assert.equal(await post({ name }), name.length % 65 === 0 ? 422 : 400, name);
  assert.equal(await post({ name: "x", clone_from: "nosuch" }), 404);
  assert.equal(existsSync(join(home, "profiles")), false);
  assert.equal(await post({ name: "copy", clone_from_default: true }), 201);
  assert.match(readFileSync(join(home, "profiles", "copy", "config.yaml"), "utf8"), /port: 8643/);
  assert.equal(await post({ name: "copy" }), 409);
});
