// The order of start: refusals before binding, busy port, second dashboard, readiness, start line (dashboard.md §1.3–1.5; rows 8, 15, 16, 24).
import assert from "node:assert/strict";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HermesError } from "#base/errors.ts";
import type { DashboardDeps } from "#dashboard/deps.ts";
import { readDashboardSettings } from "#dashboard/settings.ts";
import { startDashboard } from "#dashboard/start.ts";
import { loadConfig } from "#config/load.ts";
import { openDashboard, prepareDashboard, type DashboardOptions } from "../kit/dashboard.ts";
import { ask } from "../kit/http.ts";
import { tempDir } from "../kit/temp-dir.ts";

async function refusal(deps: DashboardDeps): Promise<HermesError> {
  try {
    await (await startDashboard(deps)).stop();
  } catch (error) {
    assert.ok(error instanceof HermesError, String(error));
    return error;
  }
  return assert.fail("it started");
}

async function occupy(t: TestContext): Promise<number> {
  const server: Server = createServer((_request, response) => response.end("other"));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return address.port;
}

function settingsOf(t: TestContext, env: Record<string, string>, flags = {}) {
  const home = tempDir(t);
  return readDashboardSettings(
    loadConfig({ processEnv: { HERMES_HOME: home, ...env }, home }),
    flags,
  );
}

test("a start that would need the gate is refused with 78, and no port is bound", async (t) => {
  const cases: [DashboardOptions, RegExp][] = [
    [{ flags: { host: "0.0.0.0" } }, /^Refusing to bind dashboard to 0\.0\.0\.0:\d+/],
    [{ flags: { host: "::" } }, /^Refusing to bind dashboard to :::\d+/],
    [
      { env: { HERMES_DASHBOARD_PUBLIC_URL: "https://agent.example.org/" } },
      /dashboard\.public_url.*https:\/\/agent\.example\.org\/[^]*LOCAL-ONLY/,
    ],
  ];
  for (const [options, text] of cases) {
    const { deps, lines, home } = await prepareDashboard(t, options);
    const error = await refusal(deps);
    assert.deepEqual([error.code, error.exit], ["GATE_REQUIRED", 78]);
    assert.match(error.message, text);
    assert.match(error.message, /no auth providers/);
    assert.deepEqual(lines, []);
    assert.ok(!existsSync(join(home, "dashboard")));
  }
});

test("the refusal names every provider's reason and the ways out, in order, in at most 20 lines", async (t) => {
  const { deps } = await prepareDashboard(t, {
    flags: { host: "0.0.0.0" },
    env: {
      HERMES_DASHBOARD_OAUTH_CLIENT_ID: "inst-1",
      HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "planted-password-0123",
      HERMES_DASHBOARD_DRAIN_SECRET: "d0ntdr41n-0123456789-abcdefghijklmnopqrstuv-XYZ",
    },
  });
  const { message } = await refusal(deps);
  const wanted = [
    "Refusing to bind dashboard to 0.0.0.0:",
    "no auth providers",
    'nous: HERMES_DASHBOARD_OAUTH_CLIENT_ID (dashboard.oauth.client_id) must start with "agent:"',
    "self-hosted: ",
    "basic: ",
    "drain: ready, but for programs only: nobody signs in with it",
    "metrics: HERMES_METRICS_TOKEN is not set (for programs only",
    "HERMES_DASHBOARD_BASIC_AUTH_USERNAME and _PASSWORD",
    "hermes dashboard set-password",
    "HERMES_DASHBOARD_OAUTH_CLIENT_ID, or HERMES_DASHBOARD_OIDC_ISSUER + _CLIENT_ID",
    "HERMES_DASHBOARD_HOST=127.0.0.1",
    "HERMES_DASHBOARD_INSECURE=1",
    "everyone who can reach the port",
  ];
  let from = 0;
  for (const text of wanted) {
    const at = message.indexOf(text, from);
    assert.ok(at >= from, `${text} is missing after ${from} in:\n${message}`);
    from = at;
  }
  assert.ok(message.split("\n").length <= 20);
  assert.ok(!message.includes("planted-password") && !message.includes("d0ntdr41n"));
});

test("a public URL engages the gate on loopback; with a provider it serves, with --insecure it is off", async (t) => {
  const env = {
    HERMES_DASHBOARD_PUBLIC_URL: "https://agent.example.org/a",
    HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "ann",
    HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "right-password-0123",
  };
  const gated = await openDashboard(t, { env });
  assert.equal((await gated.stranger("/api/sessions")).status, 401);
  assert.equal((await gated.stranger("/api/sessions")).json()["login_url"], "/a/login");
  assert.equal((await gated.stranger("/api/status")).json()["auth_required"], true);
  assert.deepEqual(
    gated.warnings.filter((line) => line.includes("gate")),
    ["hermes: the login gate is on (bound to 127.0.0.1); people sign in with basic."],
  );
  assert.ok(
    gated.logLines.includes('login gate is on {"host":"127.0.0.1","providers":"basic"}'),
    gated.logLines.join("\n"),
  );
  const open = await openDashboard(t, { env, flags: { insecure: true } });
  assert.equal((await open.ask("/api/sessions")).status, 200);
  const status = (await open.stranger("/api/status")).json();
  assert.deepEqual([status["auth_required"], status["auth_providers"]], [false, ["basic"]]);
  assert.equal(open.warnings.filter((line) => line.startsWith("WARNING")).length, 1);
});

test("--insecure opens it with one loud warning that names host and public URL", async (t) => {
  const dashboard = await openDashboard(t, {
    flags: { host: "0.0.0.0", insecure: true },
    env: { HERMES_DASHBOARD_PUBLIC_URL: "https://agent.example.org/a" },
  });
  assert.equal(dashboard.warnings.length, 1);
  assert.match(
    dashboard.warnings[0] ?? "",
    /^WARNING.*0\.0\.0\.0.*https:\/\/agent\.example\.org\/a/,
  );
  assert.match(dashboard.lines[0] ?? "", / \(public: https:\/\/agent\.example\.org\/a\)$/);
  assert.equal((await dashboard.ask("/api/sessions")).status, 200);
});

test("the insecure switch: the seven on-words only; another word is off with a warning", (t) => {
  const on = ["1", "true", "TRUE", "True", "yes", "YES", "Yes"];
  const off = ["false", "0", "", "no", "off", "OFF"];
  const read = (word: string) => settingsOf(t, { HERMES_DASHBOARD_INSECURE: word });
  for (const word of on) assert.equal(read(word).settings?.insecure, true, word);
  for (const word of off)
    assert.deepEqual([read(word).settings?.insecure, read(word).problems.length], [false, 0], word);
  for (const word of ["maybe", "on", "yEs", "2"]) {
    const { settings, problems } = read(word);
    assert.equal(settings?.insecure, false, word);
    assert.equal(problems[0]?.setting, "HERMES_DASHBOARD_INSECURE");
  }
});

test("settings: precedence, and every problem at once", (t) => {
  const env = { HERMES_DASHBOARD_PORT: " 9200 ", HERMES_DASHBOARD_HOST: "::1" };
  assert.deepEqual(
    [settingsOf(t, env).settings?.port, settingsOf(t, env).settings?.host],
    [9200, "::1"],
  );
  const flags = { port: "9300", host: "127.0.0.2" };
  assert.deepEqual(
    [settingsOf(t, env, flags).settings?.port, settingsOf(t, env, flags).settings?.host],
    [9300, "127.0.0.2"],
  );
  assert.equal(settingsOf(t, {}).settings?.port, 9119);
  assert.equal(settingsOf(t, {}, { port: "0" }).settings?.port, 0);
  const wrong = settingsOf(t, {
    HERMES_DASHBOARD_PORT: "0",
    HERMES_DASHBOARD_HOST: "http://x",
    HERMES_DASHBOARD_SESSION_TOKEN: "short",
  });
  assert.equal(wrong.settings, null);
  assert.deepEqual(
    wrong.problems.map(({ setting }) => setting),
    ["HERMES_DASHBOARD_HOST", "HERMES_DASHBOARD_PORT", "HERMES_DASHBOARD_SESSION_TOKEN"],
  );
  assert.ok(!JSON.stringify(wrong).includes('short"'));
  for (const port of ["abc", "70000", "-1", "1.5", "9119x"]) {
    assert.equal(settingsOf(t, { HERMES_DASHBOARD_PORT: port }).settings, null, port);
  }
});

test("a port that a Kubernetes Service has put there is said to be one", (t) => {
  const { problems } = settingsOf(t, { HERMES_DASHBOARD_PORT: "tcp://10.0.0.1:80" });
  assert.deepEqual(problems, [
    {
      code: problems[0]?.code,
      level: "error",
      setting: "HERMES_DASHBOARD_PORT",
      message:
        "HERMES_DASHBOARD_PORT=tcp://10.0.0.1:80 was set by a Kubernetes Service of that name, not by you.",
      fix: "Set enableServiceLinks: false in the pod, or rename the Service.",
    },
  ]);
});

test("a variable of ours that nothing reads gets one notice", (t) => {
  const home = tempDir(t);
  const loaded = loadConfig({ processEnv: { HERMES_HOME: home }, home });
  const names = [
    "HERMES_DASHBOARD_PROT",
    "HERMES_DASHBOARD_SESSION_SECRET_FILE",
    "HERMES_DASHBOARD_HOST",
    "PATH",
  ];
  const { settings, problems } = readDashboardSettings(loaded, {}, names);
  assert.ok(settings);
  assert.deepEqual(
    problems.map(({ setting, level }) => [setting, level]),
    [["HERMES_DASHBOARD_PROT", "warning"]],
  );
});

test("a busy port: exit 1, naming port and holder, no URL, lock and descriptor free again", async (t) => {
  const port = await occupy(t);
  const fifo = tempFile(t);
  const descriptor = openSync(fifo, "w");
  t.after(() => closeSync(descriptor));
  const { deps, lines, home } = await prepareDashboard(t, {
    flags: { port: String(port) },
    readyFd: descriptor,
  });
  const error = await refusal(deps);
  assert.deepEqual([error.code, error.exit], ["PORT_BUSY", 1]);
  assert.match(error.message, new RegExp(`Port ${port} .*pid ${process.pid} \\(.*node`));
  assert.deepEqual(lines, []);
  assert.equal(readFileSync(fifo, "utf8"), "");
  assert.ok(!existsSync(join(home, "dashboard", "dashboard.json")));
  const again = await startDashboard({
    ...deps,
    whenReady: () => undefined,
    settings: { ...deps.settings, port: 0 },
  });
  await again.stop();
});

test("an address that is not ours: exit 1, naming it", async (t) => {
  const { deps } = await prepareDashboard(t, { flags: { host: "192.0.2.1", insecure: true } });
  const error = await refusal(deps);
  assert.deepEqual([error.code, error.exit], ["BIND_FAILED", 1]);
  assert.match(error.message, /192\.0\.2\.1.*EADDRNOTAVAIL/);
});

test("port 0: start line, record and self-probe carry the real port; ready is written after the answer", async (t) => {
  const fifo = tempFile(t);
  const dashboard = await openDashboard(t, { readyFd: openSync(fifo, "w") });
  const { port } = dashboard.running;
  assert.ok(port > 0);
  assert.deepEqual(dashboard.lines, [`Hermes Web UI → http://127.0.0.1:${port}`]);
  assert.equal(readFileSync(fifo, "utf8"), "\n");
  const path = join(dashboard.home, "dashboard", "dashboard.json");
  const record = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  assert.deepEqual([record["pid"], record["url"]], [process.pid, `http://127.0.0.1:${port}`]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal((await dashboard.stranger("/api/health")).json()["ok"], true);
});

test("a self-probe that is not answered with 200 ends the start with 1 and writes nothing", async (t) => {
  const fifo = tempFile(t);
  const descriptor = openSync(fifo, "w");
  t.after(() => closeSync(descriptor));
  const { deps, lines } = await prepareDashboard(t, { readyFd: descriptor });
  // The version is read once while the parts are put together; then the health route's own read fails.
  let reads = 0;
  const broken = Object.defineProperty({ ...deps }, "version", {
    get() {
      if (reads++ > 0) throw new Error("broken health");
      return "0.0.1";
    },
  });
  const error = await refusal(broken);
  assert.deepEqual([error.code, error.exit], ["NOT_ANSWERING", 1]);
  assert.match(error.message, /status 500/);
  assert.deepEqual(lines, []);
  assert.equal(readFileSync(fifo, "utf8"), "");
});

test("a second dashboard on the home is refused at once with 78, naming the first, which is untouched", async (t) => {
  const first = await openDashboard(t);
  const { deps } = await prepareDashboard(t, { home: first.home });
  const startedAt = performance.now();
  const error = await refusal(deps);
  assert.ok(performance.now() - startedAt < 1000);
  assert.deepEqual([error.code, error.exit], ["DASHBOARD_RUNNING", 78]);
  assert.match(error.message, new RegExp(`pid ${process.pid} on .+, ${first.url}`));
  assert.equal((await first.stranger("/api/health")).status, 200);
  await first.running.stop();
  const next = await startDashboard(deps);
  await next.stop();
});

test("localhost binds 127.0.0.1; :: answers on both families; [::1] is bracketed in the line", async (t) => {
  const local = await openDashboard(t, { flags: { host: "localhost" } });
  assert.equal(local.url, `http://localhost:${local.running.port}`);
  assert.equal((await ask(`http://127.0.0.1:${local.running.port}/api/health`)).status, 200);
  const both = await openDashboard(t, { flags: { host: "::", insecure: true } });
  for (const host of ["127.0.0.1", "[::1]"]) {
    assert.equal((await ask(`http://${host}:${both.running.port}/api/health`)).status, 200, host);
  }
  const six = await openDashboard(t, { flags: { host: "[::1]" } });
  assert.equal(six.url, `http://[::1]:${six.running.port}`);
  assert.equal((await six.stranger("/api/health")).status, 200);
});

test("stop is safe twice, frees port and home, and removes the record", async (t) => {
  const dashboard = await openDashboard(t);
  const { port } = dashboard.running;
  await Promise.all([dashboard.running.stop(), dashboard.running.stop()]);
  assert.ok(!existsSync(join(dashboard.home, "dashboard", "dashboard.json")));
  await assert.rejects(ask(`http://127.0.0.1:${port}/api/health`), { code: "ECONNREFUSED" });
  const free = createTcpServer();
  await new Promise<void>((resolve) => {
    free.listen(port, "127.0.0.1", resolve);
  });
  free.close();
});

function tempFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-ready-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "ready");
}
