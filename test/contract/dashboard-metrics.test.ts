// GET /metrics (dashboard.md §11.1): off unless it is wanted, for the token, a login or the local token, never for a stranger.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openDashboard, writeWebDist } from "../kit/dashboard.ts";
import { BASIC_ENV, startGate } from "../kit/gate.ts";
import { ask } from "../kit/http.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { fakeService, fakeServices } from "../kit/fake-services.ts";

const ON = "model:\n  provider: demo\n  default: demo\ndashboard:\n  metrics: true\n";
const TOKEN = "metrics-0123456789-abcdefghijklmnopqrstuvwxyz-ABC";

test("off: not there, and no sign of it to a stranger", async (t) => {
  const dashboard = await openDashboard(t);
  assert.equal((await dashboard.ask("/metrics")).status, 404);
  assert.equal((await dashboard.stranger("/metrics")).status, 401);
});

test("on: states, restarts and connections as Prometheus reads them", async (t) => {
  const services = fakeServices([
    fakeService({
      name: "gateway-a",
      profile: "a",
      state: "crash-looping",
      restarts: 7,
      pid: null,
    }),
    fakeService({ name: "dashboard", kind: "dashboard", profile: null }),
  ]);
  const dashboard = await openDashboard(t, { config: ON, services });
  const answer = await dashboard.ask("/metrics");
  assert.equal(answer.status, 200);
  assert.match(answer.headers["content-type"] ?? "", /^text\/plain; version=0\.0\.4/u);
  const lines = answer.body.split("\n");
  for (const line of [
    "# TYPE hermes_slot_restarts_total counter",
    'hermes_slot_restarts_total{slot="gateway-a"} 7',
    'hermes_slot_restarts_total{slot="dashboard"} 0',
    'hermes_slot_state{slot="gateway-a",state="crash-looping"} 1',
    'hermes_slot_state{slot="dashboard",state="ready"} 1',
    'hermes_open_connections{kind="sockets"} 0',
    "hermes_active_sessions 0",
  ]) {
    assert.ok(lines.includes(line), `${line}\n${answer.body}`);
  }
  // A second scrape counts nothing twice.
  assert.equal((await dashboard.ask("/metrics")).body, answer.body);
  assert.equal((await dashboard.stranger("/metrics")).status, 401);
});

test("behind the gate: the token opens this and nothing else; another one opens nothing", async (t) => {
  const gate = await startGate(t, {
    webDist: writeWebDist(tempDir(t)),
    config: "dashboard:\n  metrics: true\n",
    env: { ...BASIC_ENV, HERMES_METRICS_TOKEN: TOKEN },
  });
  const get = (path: string, token?: string) =>
    ask(
      `${gate.url}${path}`,
      token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
    );
  assert.equal((await get("/metrics")).status, 401);
  assert.equal((await get("/metrics", `${TOKEN}x`)).status, 401);
  const answer = await get("/metrics", TOKEN);
  assert.equal(answer.status, 200, answer.body);
  assert.match(answer.body, /^hermes_build_info\{version="[^"]+"\} 1$/mu);
  assert.ok(!answer.body.includes(TOKEN));
  assert.ok([401, 403].includes((await get("/api/sessions", TOKEN)).status));
});
