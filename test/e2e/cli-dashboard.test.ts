// `hermes dashboard` as a real process: start line, readiness, a second start, a busy port, stop (field-rules A10).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { runCli, startCli } from "../kit/cli.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const WAIT_MS = 60_000;

test("one start line after it answers; status sees it; a second start names it; stop ends it with 0", async (t) => {
  const home = tempDir(t);
  const run = startCli(["--provider", "demo", "dashboard", "--port", "0"], { home });
  t.after(() => run.child.kill("SIGKILL"));
  await until("the start line", () => run.stdout().includes("\n"), WAIT_MS);
  const url = /^Hermes Web UI → (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(run.stdout())?.[1] ?? "";
  const health = await fetch(`${url}/api/health`);
  assert.equal(health.status, 200);
  const status = JSON.parse((await runCli(["status", "--json"], { home })).stdout) as {
    services: { name: string; state: string; pid: number | null }[];
  };
  assert.deepEqual(
    status.services.map(({ name, state, pid }) => [name, state, pid]),
    [
      ["dashboard", "ready", run.child.pid],
      ["gateway-default", "stopped", null],
    ],
  );
  const second = await runCli(["dashboard", "--port", "0"], { home });
  assert.equal(second.code, 78);
  assert.equal(second.stdout, "");
  assert.ok(second.stderr.includes(String(run.child.pid)), second.stderr);
  assert.equal((await runCli(["web", "--status"], { home })).code, 0);
  const stopped = await runCli(["dashboard", "--stop"], { home });
  assert.deepEqual([stopped.code, (await run.ended).code], [0, 0]);
  assert.equal((await runCli(["dashboard", "--status"], { home })).code, 1);
});

test("a busy port: 1, the port and its holder are named, no URL is printed", async (t) => {
  const home = tempDir(t);
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const result = await runCli(["dashboard", "--port", String(port)], { home });
  assert.equal(result.code, 1);
  assert.equal(result.stdout, "");
  assert.ok(
    result.stderr.includes(String(port)) && result.stderr.includes(String(process.pid)),
    result.stderr,
  );
});

test("beyond this machine without a login: 78 before anything is bound", async (t) => {
  const home = tempDir(t);
  const result = await runCli(["dashboard", "--host", "0.0.0.0", "--port", "0"], { home });
  assert.equal(result.code, 78);
  assert.match(result.stderr, /Refusing to bind dashboard to 0\.0\.0\.0/);
  assert.equal(result.stdout, "");
});

test("SIGTERM ends it with 0, and wrong settings are all named at once", async (t) => {
  const home = tempDir(t);
  const run = startCli(["dashboard", "--port", "0"], { home });
  t.after(() => run.child.kill("SIGKILL"));
  await until("the start line", () => run.stdout().includes("Hermes Web UI"), WAIT_MS);
  run.child.kill("SIGTERM");
  assert.equal((await run.ended).code, 0);
  const env = { HERMES_DASHBOARD_PORT: "tcp://10.0.0.1:1", HERMES_DASHBOARD_HOST: "not a host" };
  const refused = await runCli(["dashboard"], { home, env });
  assert.equal(refused.code, 78);
  assert.ok(
    refused.stderr.includes("HERMES_DASHBOARD_PORT") &&
      refused.stderr.includes("HERMES_DASHBOARD_HOST"),
    refused.stderr,
  );
});
