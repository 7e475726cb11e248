// The dashboard as a service of the container (container.md §14, rows 7–17, 26, 51, 53, 60).
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  dockerExec,
  exitCode,
  bootLines,
  docker,
  hermes,
  httpFromHost,
  httpProbe,
  inspect,
  listening,
  logs,
  noEngine,
  removeAll,
  runOnce,
  serviceOf,
  setupDone,
  sh,
  startContainer,
  stop,
  waitFor,
  waitReady,
  type Container,
} from "../kit/docker.ts";

/** The gate is not what these tests are about: they need a page that answers. */
const OPEN = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };
const PUBLISHED = ["-p", "127.0.0.1::9119"];
const PUBLIC_PATHS = [
  "/api/status",
  "/api/config/defaults",
  "/api/config/schema",
  "/api/model/info",
  "/api/dashboard/themes",
  "/api/dashboard/plugins",
  "/api/health",
];

const statusOf = async (c: Container): Promise<Record<string, unknown>> =>
  JSON.parse((await httpProbe(c, "/api/status"))?.body ?? "null") as Record<string, unknown>;

suite("container: dashboard", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("7, 16: off by default: disabled, no process, no stand-in, nothing listens; by hand it ends and says why", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    const service = await serviceOf(c, "dashboard");
    assert.deepEqual(
      [service.state, service.reason, service.pid],
      ["disabled", "HERMES_DASHBOARD is off", null],
    );
    assert.match(
      await sh(c, "/command/s6-svstat -o up,wantedup /run/service/dashboard"),
      /^false false$/u,
    );
    assert.equal(await listening(c, 9119), false);
    assert.doesNotMatch(await sh(c, "ps -eo args="), /hermes dashboard/u);
    await sh(c, "/command/s6-svc -u /run/service/dashboard");
    await waitFor(c, "the line that names the variable", async () =>
      (await sh(c, "cat /opt/data/logs/dashboard/current")).includes("HERMES_DASHBOARD is off"),
    );
    await waitFor(
      c,
      "it to be down again",
      async () =>
        (await sh(c, "/command/s6-svstat -o up,wantedup /run/service/dashboard")) === "false false",
    );
    assert.equal((await serviceOf(c, "dashboard")).state, "disabled");
  });

  test("8, 13, 26: on: 200 from the host, ready twice with one pid; insecure is said loudly", async (t) => {
    const c = await startContainer(t, { opts: PUBLISHED, env: OPEN, args: ["sleep", "300"] });
    await waitReady(c, "dashboard");
    const status = await httpFromHost(c, "/api/status");
    assert.equal(status?.status, 200);
    assert.equal((JSON.parse(status.body) as Record<string, unknown>)["auth_required"], false);
    assert.match(await logs(c), /\[dashboard\] WARNING: the dashboard runs without a login/u);
    assert.equal(await httpProbe(c, "/api/status", 9), null);
  });

  test("9: another port", async (t) => {
    const c = await startContainer(t, {
      env: { ...OPEN, HERMES_DASHBOARD_PORT: "9120" },
      args: ["sleep", "300"],
    });
    await waitReady(c, "dashboard");
    assert.deepEqual([await listening(c, 9120), await listening(c, 9119)], [true, false]);
    assert.equal((await httpProbe(c, "/api/status", 9120))?.status, 200);
  });

  test("10: kill -9 as hermes: another pid serves", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["sleep", "300"] });
    const before = await waitReady(c, "dashboard");
    await sh(c, `kill -9 ${before.pid ?? 0}`);
    await waitFor(
      c,
      "another pid",
      async () => (await serviceOf(c, "dashboard")).pid !== before.pid,
      3000,
    );
    const now = await waitReady(c, "dashboard");
    assert.notEqual(now.pid, before.pid);
    assert.equal(now.restarts, 1);
    assert.equal((await httpProbe(c, "/api/status"))?.status, 200);
  });

  test("11, 12: 0.0.0.0 with a client id: the gate by two observations; the public paths stay open", async (t) => {
    const c = await startContainer(t, {
      opts: PUBLISHED,
      env: { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_OAUTH_CLIENT_ID: "agent:test" },
      args: ["sleep", "300"],
    });
    await waitReady(c, "dashboard");
    const providers = await httpFromHost(c, "/api/auth/providers");
    assert.equal(providers?.status, 200);
    assert.match(providers.body, /"nous"/u);
    const sessions = await httpFromHost(c, "/api/sessions");
    assert.equal(sessions?.status, 401);
    // The portal asks /api/status without a cookie as its only sign of life.
    for (const path of PUBLIC_PATHS) assert.equal((await httpFromHost(c, path))?.status, 200, path);
    const status = JSON.parse((await httpFromHost(c, "/api/status"))?.body ?? "{}") as Record<
      string,
      unknown
    >;
    assert.equal(status["auth_required"], true);
  });

  test("14: the host never opens the gate; on-words do, unclear words do not and warn", async (t) => {
    for (const word of ["true", "Yes"]) {
      const c = await startContainer(t, {
        env: { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: word },
        args: ["sleep", "300"],
      });
      await waitReady(c, "dashboard");
      assert.equal((await statusOf(c))["auth_required"], false, word);
    }
    const c = await startContainer(t, {
      env: {
        HERMES_DASHBOARD: "1",
        HERMES_DASHBOARD_INSECURE: "enable",
        HERMES_DASHBOARD_OAUTH_CLIENT_ID: "agent:test",
      },
      args: ["sleep", "300"],
    });
    await waitReady(c, "dashboard");
    assert.equal((await statusOf(c))["auth_required"], true);
    assert.doesNotMatch(
      await sh(c, "tr '\\0' ' ' </proc/$(pgrep -f 'hermes dashboard' | head -1)/cmdline"),
      /--insecure/u,
    );
    assert.match(await logs(c), /HERMES_DASHBOARD_INSECURE/u);
  });

  test("15: no provider: refused, at most two starts, nothing listens, the ways out are said; the gateway is unharmed", async (t) => {
    const c = await startContainer(t, { env: { HERMES_DASHBOARD: "1" }, args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    const refused = await waitFor(c, "refused", async () => {
      const service = await serviceOf(c, "dashboard");
      return service.state === "refused" ? service : null;
    });
    assert.ok((refused.error?.ways_out.length ?? 0) > 0);
    assert.match(refused.reason ?? "", /login/u);
    assert.equal(await listening(c, 9119), false);
    const healthy = await hermes(c, "probe", "--self");
    assert.equal(healthy.code, 0, healthy.stdout);
    assert.match(healthy.stdout, /dashboard refused/u);
    const log = await logs(c);
    assert.match(log, /HERMES_DASHBOARD_INSECURE/u);
    const pid = (await serviceOf(c, "gateway-default")).pid;
    const starts = Number(await sh(c, "/command/s6-svdt /run/service/dashboard | wc -l"));
    assert.ok(starts >= 1 && starts <= 2, `${starts}`);
    assert.equal((await serviceOf(c, "gateway-default")).pid, pid);
    // The way out, taken: a password on the volume, and a start.
    const set = await dockerExec(
      c,
      ["hermes", "dashboard", "set-password", "admin", "--password-stdin"],
      { input: "correct horse battery\n" },
    );
    assert.equal(set.code, 0, set.stderr);
    await sh(c, "/command/s6-svc -u /run/service/dashboard");
    await waitReady(c, "dashboard");
    assert.equal((await statusOf(c))["auth_required"], true);
  });

  test("16: the toggle is taken at each boot, both ways", async (t) => {
    const on = await startContainer(t, { env: OPEN, args: ["sleep", "300"] });
    await waitReady(on, "dashboard");
    await sh(on, "touch /run/service/dashboard/down");
    const lines = await bootLines(on);
    await docker(["restart", on.name]);
    await setupDone(on, lines);
    await waitReady(on, "dashboard");
    assert.equal(await sh(on, "ls /run/service/dashboard/down 2>/dev/null"), "");
    const off = await startContainer(t, { args: ["sleep", "300"] });
    await sh(off, "rm /run/service/dashboard/down");
    const before = await bootLines(off);
    await docker(["restart", off.name]);
    await setupDone(off, before);
    assert.equal(await sh(off, "ls /run/service/dashboard/down"), "/run/service/dashboard/down");
    assert.equal((await serviceOf(off, "dashboard")).state, "disabled");
  });

  test("16: words of the toggle", async (t) => {
    for (const [word, state] of [
      ["TRUE", "ready"],
      ["no", "disabled"],
      ["2", "disabled"],
    ] as const) {
      const c = await startContainer(t, {
        env: { ...OPEN, HERMES_DASHBOARD: word },
        args: ["sleep", "300"],
      });
      await waitFor(
        c,
        `${word}: ${state}`,
        async () => (await serviceOf(c, "dashboard")).state === state,
      );
      assert.equal(/HERMES_DASHBOARD=2/u.test(await logs(c)), word === "2");
    }
  });

  test("17: --insecure in the command itself", async (t) => {
    const c = await startContainer(t, { args: ["dashboard", "--host", "0.0.0.0", "--insecure"] });
    await waitFor(c, "an answer", async () => (await httpProbe(c, "/api/status"))?.status === 200);
    assert.equal((await statusOf(c))["auth_required"], false);
    assert.equal((await serviceOf(c, "dashboard")).state, "ready");
    assert.equal((await stop(c)).code, 0);
  });

  test("the command dashboard binds as the slot does: with the gate, refused without a provider", async () => {
    const end = await runOnce({ args: ["dashboard"] });
    assert.equal(end.code, 78, end.stderr);
    assert.match(end.stderr, /Refusing to bind dashboard to 0\.0\.0\.0/u);
    assert.match(end.stderr, /HERMES_DASHBOARD_BASIC_AUTH_USERNAME/u);
  });

  test("a Kubernetes service link and a port that is taken", async (t) => {
    const c = await startContainer(t, {
      env: { ...OPEN, HERMES_DASHBOARD_PORT: "tcp://10.0.0.1:80" },
      args: ["sleep", "300"],
    });
    const service = await waitFor(c, "refused", async () => {
      const found = await serviceOf(c, "dashboard");
      return found.state === "refused" ? found : null;
    });
    assert.match(service.error?.ways_out.join(" ") ?? "", /enableServiceLinks/u);
    const end = await runOnce({ env: { HERMES_DASHBOARD_PROT: "1" }, args: ["true"] });
    assert.match(
      end.stderr,
      /HERMES_DASHBOARD_PROT is not used: did you mean HERMES_DASHBOARD_PORT\?/u,
    );
  });

  test("53: log lines of a slot reach docker logs whole, with prefix, and a rotated file", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["sleep", "300"] });
    await waitReady(c, "dashboard");
    assert.match(await logs(c), /^\[dashboard\] Hermes Web UI → http:\/\/127\.0\.0\.1:9119$/mu);
    assert.match(
      await sh(c, "cat /opt/data/logs/dashboard/current"),
      /^\d{4}-\d\d-\d\d .*Hermes Web UI/mu,
    );
    const quiet = await startContainer(t, {
      env: { ...OPEN, HERMES_LOG_NO_TEE: "1" },
      args: ["sleep", "300"],
    });
    await waitReady(quiet, "dashboard");
    assert.doesNotMatch(await logs(quiet), /\[dashboard\]/u);
  });

  test("60: the HEALTHCHECK of the engine itself: healthy while it serves, no longer when it does not", async (t) => {
    const c = await startContainer(t, {
      opts: ["--health-interval=1s", "--health-retries=1", "--health-start-period=1s"],
      env: OPEN,
      args: [],
    });
    await waitFor(
      c,
      "healthy",
      async () => (await inspect(c, "{{.State.Health.Status}}")) === "healthy",
    );
    const { pid } = await waitReady(c, "dashboard");
    await sh(c, `kill -STOP ${pid ?? 0}`);
    await waitFor(
      c,
      "unhealthy",
      async () => (await inspect(c, "{{.State.Health.Status}}")) === "unhealthy",
    );
    assert.equal((await serviceOf(c, "dashboard")).state, "unknown");
    await sh(c, `kill -CONT ${pid ?? 0}`);
    await waitFor(
      c,
      "healthy again",
      async () => (await inspect(c, "{{.State.Health.Status}}")) === "healthy",
    );
  });

  test("no slot wanted up and no terminal: 64; with the dashboard on it holds, and says what runs", async (t) => {
    const c = await startContainer(t, { env: OPEN });
    await waitReady(c, "dashboard");
    assert.match(await logs(c), /dashboard/u);
    assert.equal((await stop(c)).code, 0);
    assert.equal(await exitCode(c), 0);
  });
});
