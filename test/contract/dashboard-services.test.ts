// Services over HTTP: rows, jobs, coalescing, and the gateway in /api/status (dashboard.md §11.2, §11.4).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ServiceError } from "#supervisor/port.ts";
import type { ServiceState } from "#protocol/http-status.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { fakeService, fakeServices, type FakeServices } from "../kit/fake-services.ts";
import { openGated } from "../kit/gated.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

async function open(t: TestContext, services: FakeServices) {
  return openDashboard(t, { services });
}

async function jobOf(
  dashboard: Awaited<ReturnType<typeof open>>,
  id: unknown,
): Promise<Record<string, unknown>> {
  return until("the job to end", async () => {
    const job = (await dashboard.ask(`/api/services/jobs/${String(id)}`)).json();
    return job["status"] === "running" ? null : job;
  });
}

test("rows carry what may be asked of each service", async (t) => {
  const services = fakeServices([
    fakeService(),
    fakeService({ name: "gateway-work", profile: "work", state: "refused", pid: null }),
    fakeService({
      name: "dashboard",
      kind: "dashboard",
      profile: null,
      state: "disabled",
      pid: null,
    }),
  ]);
  const dashboard = await open(t, services);
  const body = (await dashboard.ask("/api/services")).json();
  const rows = body["services"] as { name: string; allowed_actions: string[] }[];
  assert.deepEqual(
    rows.map(({ name, allowed_actions: allowed }) => [name, allowed]),
    [
      ["gateway-default", ["stop", "restart"]],
      ["gateway-work", ["start"]],
      ["dashboard", []],
    ],
  );
  assert.deepEqual(body["manager"], { kind: "s6", label: "s6 (container supervisor)" });
});

test("a restart is answered at once, carried out once, and says the new pid", async (t) => {
  const services = fakeServices([fakeService()]);
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  services.answer = async (slot) => {
    await gate;
    return fakeService({ name: slot, pid: 5000 });
  };
  const dashboard = await open(t, services);
  const first = await dashboard.ask("/api/services/gateway-default/restart", {
    method: "POST",
    body: {},
  });
  const second = await dashboard.ask("/api/services/gateway-default/restart", {
    method: "POST",
    body: {},
  });
  assert.deepEqual([first.status, second.status], [202, 202]);
  assert.equal(first.json()["coalesced"], false);
  assert.deepEqual(
    [second.json()["coalesced"], second.json()["job_id"]],
    [true, first.json()["job_id"]],
  );
  const opposite = await dashboard.ask("/api/services/gateway-default/stop", {
    method: "POST",
    body: {},
  });
  assert.deepEqual([opposite.status, opposite.json()["code"]], [409, "busy"]);
  release();
  const job = await jobOf(dashboard, first.json()["job_id"]);
  assert.deepEqual([job["status"], job["before_pid"], job["after_pid"]], ["done", 4242, 5000]);
  assert.deepEqual(services.calls, ["restart gateway-default dashboard"]);
});

test("77 restarts within 5 s are one restart; 10 s after it another one is", async (t) => {
  const clock = new FakeClock();
  const services = fakeServices([fakeService()]);
  const dashboard = await openDashboard(t, { services, clock });
  const restart = async (): Promise<boolean> => {
    const answer = await dashboard.ask("/api/gateway/restart", { method: "POST", body: {} });
    assert.equal(answer.status, 202);
    return answer.json<{ coalesced: boolean }>().coalesced;
  };
  const coalesced: boolean[] = [];
  for (let n = 0; n < 77; n++) {
    coalesced.push(await restart());
    await clock.advance(5000 / 77);
  }
  assert.equal(coalesced.filter(Boolean).length, 76);
  assert.deepEqual(services.calls, ["restart gateway-default dashboard"]);
  await clock.advance(5001);
  assert.equal(await restart(), false);
  await until("the second restart", () => services.calls.length === 2);
});

test("a dashboard that nothing supervises: 409 with the command", async (t) => {
  const kind = "dashboard";
  const services = fakeServices([fakeService({ name: kind, kind, profile: null })]);
  const manager = { ...services.manager, kind: "none", canRegister: false } as const;
  const dashboard = await openDashboard(t, { services: { ...services, manager } });
  for (const action of ["start", "stop", "restart"]) {
    const path = `/api/services/dashboard/${action}`;
    const answer = await dashboard.ask(path, { method: "POST", body: {} });
    assert.deepEqual([answer.status, answer.json()["code"]], [409, "not_supervised"]);
    assert.match(String(answer.json()["detail"]), /hermes dashboard --stop/u);
  }
  assert.deepEqual(services.calls, []);
});

test("/readyz is 503 while a service that is wanted is not up; /api/health stays 200", async (t) => {
  const services = fakeServices();
  const dashboard = await openGated(t, { services });
  const cases: readonly (readonly [ServiceState, "running" | "stopped" | null, number])[] = [
    ["ready", "running", 200],
    ["degraded", "running", 200],
    ["starting", "running", 503],
    ["stopping", "running", 503],
    ["crash-looping", "running", 503],
    ["refused", "running", 503],
    ["stopped", "running", 503],
    ["unknown", "running", 503],
    ["stopped", "stopped", 200],
    ["stopped", null, 200],
  ];
  const work = fakeService({ name: "gateway-secret-name", profile: "secret-name" });
  for (const [state, desired, status] of cases) {
    services.set([fakeService(), { ...work, state, desired }]);
    const answer = await dashboard.stranger("/readyz");
    assert.deepEqual([answer.status, answer.json()["ready"]], [status, status === 200], state);
    assert.ok(!answer.body.includes("secret-name"));
    assert.equal((await dashboard.stranger("/api/health")).status, 200);
  }
  // Its own slot is judged by itself: it answers.
  const own = fakeService({ name: "dashboard", kind: "dashboard", profile: null });
  services.set([{ ...own, state: "starting", desired: "running" }]);
  assert.equal((await dashboard.stranger("/readyz")).status, 200);
});

test("a start that is refused ends as failed, with the way out", async (t) => {
  const services = fakeServices([fakeService({ state: "stopped", pid: null })]);
  services.answer = async (slot) => {
    throw new ServiceError("refused", `${slot} refused to run: no key`, { slot, fix: "Set KEY." });
  };
  const dashboard = await open(t, services);
  const begun = await dashboard.ask("/api/gateway/start", { method: "POST", body: {} });
  assert.deepEqual([begun.status, begun.json()["name"]], [202, "gateway-start"]);
  const job = await jobOf(dashboard, begun.json()["job_id"]);
  assert.deepEqual(
    [job["status"], job["detail"]],
    ["failed", "gateway-default refused to run: no key Set KEY."],
  );
});

test("unknown slots and jobs are 404; the log is its end, redacted", async (t) => {
  const log = join(tempDir(t), "current");
  const key = "sk-test-0123456789abcdef0123456789";
  writeFileSync(log, `one\ntwo ${key}\n`);
  const services = fakeServices([fakeService({ log })]);
  const dashboard = await openDashboard(t, { services, dotEnv: `OPENAI_API_KEY=${key}\n` });
  assert.equal((await dashboard.ask("/api/services/gateway-x/log")).status, 404);
  assert.equal(
    (await dashboard.ask("/api/services/nosuch/stop", { method: "POST", body: {} })).status,
    404,
  );
  assert.equal((await dashboard.ask("/api/services/jobs/nosuch")).status, 404);
  const { lines } = (await dashboard.ask("/api/services/gateway-default/log?lines=1")).json<{
    lines: string[];
  }>();
  assert.equal(lines.length, 1);
  assert.ok(lines[0]?.startsWith("two ") === true && !lines[0].includes(key));
});

const WORDS: readonly (readonly [ServiceState, string | null, boolean])[] = [
  ["ready", "running", true],
  ["degraded", "degraded", true],
  ["starting", "starting", false],
  ["stopping", "draining", true],
  ["stopped", "stopped", false],
  ["disabled", "stopped", false],
  ["refused", "startup_failed", false],
  ["crash-looping", "startup_failed", false],
  ["unknown", null, false],
];

test("/api/status says the gateway's state in the old words, to a stranger too, and keeps details for callers", async (t) => {
  const services = fakeServices();
  const dashboard = await openGated(t, { services });
  for (const [state, word, running] of WORDS) {
    services.set([fakeService({ state })]);
    const body = (await dashboard.stranger("/api/status")).json();
    assert.deepEqual([body["gateway_state"], body["gateway_running"]], [word, running], state);
    assert.ok(!("services" in body) && !("gateway_pid" in body));
  }
  services.set([fakeService()]);
  const browser = dashboard.browser();
  await browser.login();
  const full = (await browser.get("/api/status")).json();
  assert.equal(full["gateway_pid"], 4242);
  assert.deepEqual(
    (full["services"] as { name: string }[]).map(({ name }) => name),
    ["gateway-default"],
  );
});

test("a stranger may not look at services nor touch them", async (t) => {
  const dashboard = await openGated(t, { services: fakeServices([fakeService()]) });
  assert.equal((await dashboard.stranger("/api/services")).status, 401);
  const touched = await dashboard.stranger("/api/services/gateway-default/stop", {
    method: "POST",
    body: {},
  });
  assert.equal(touched.status, 401);
});
