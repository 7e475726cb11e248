// Stored sessions, search, logs, analytics, status and static files over HTTP (dashboard.md §11.2, §11.3, §11.7; rows 43, 51, 58).
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { HermesError } from "#base/errors.ts";
import { LOCAL_TOKEN, openDashboard, writeWebDist, type TestDashboard } from "../kit/dashboard.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const SECRET = "sk-planted-0123456789abcdef";
const NOW = Date.now() / 1000;

async function fill(dashboard: TestDashboard, count = 3): Promise<string[]> {
  const store = dashboard.stores.get("default") ?? assert.fail("no store");
  const ids: string[] = [];
  for (let n = 1; n <= count; n++) {
    const id = `2026010${n}_120000_aaaaa${n}`;
    await store.createSession({
      id,
      source: "cli",
      model: "demo",
      title: `Title ${n}`,
      startedAt: NOW - 1000 + n,
    });
    await store.appendMessages(id, [
      { role: "user", content: `question ${n} about ${SECRET}`, timestamp: NOW - 900 + n },
      { role: "assistant", content: `answer ${n}`, timestamp: NOW - 890 + n, finishReason: "stop" },
    ]);
    ids.push(id);
  }
  return ids;
}

test("list, one, prefix, ambiguous, unknown; rows in snake_case with ISO times", async (t) => {
  const dashboard = await openDashboard(t);
  const ids = await fill(dashboard);
  const list = (await dashboard.ask("/api/sessions?limit=2&offset=1")).json<{
    sessions: Record<string, unknown>[];
    total: number;
    limit: number;
    offset: number;
  }>();
  assert.deepEqual([list.total, list.limit, list.offset, list.sessions.length], [3, 2, 1, 2]);
  const row = list.sessions[0] ?? {};
  assert.match(String(row["started_at"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual([row["message_count"], row["is_active"], row["ended_at"]], [2, false, null]);
  assert.equal((await dashboard.ask(`/api/sessions/${ids[0]}`)).json()["title"], "Title 1");
  assert.equal((await dashboard.ask("/api/sessions/20260102")).json()["id"], ids[1]);
  const many = await dashboard.ask("/api/sessions/202601");
  assert.deepEqual([many.status, many.json()["code"]], [409, "conflict"]);
  assert.deepEqual(many.json<{ candidates: string[] }>().candidates.sort(), ids);
  for (const path of ["/api/sessions/29990101", "/api/sessions/latest", "/api/sessions/..%252fx"]) {
    assert.equal((await dashboard.ask(path)).status, 404, path);
  }
  assert.equal((await dashboard.ask("/api/sessions?limit=x")).status, 422);
});

test("rename, taken title, marks, delete", async (t) => {
  const dashboard = await openDashboard(t);
  const [first = "", second = ""] = await fill(dashboard);
  const patch = (id: string, body: object) =>
    dashboard.ask(`/api/sessions/${id}`, { method: "PATCH", body });
  assert.equal((await patch(first, { title: "New name" })).json()["title"], "New name");
  const taken = await patch(second, { title: "New name" });
  assert.deepEqual([taken.status, taken.json()["code"]], [409, "conflict"]);
  assert.equal((await patch(first, { pinned: true, archived: true })).json()["archived"], true);
  assert.equal((await dashboard.ask("/api/sessions")).json()["total"], 2);
  assert.equal((await patch(first, { title: "" })).json()["title"], null);
  const removed = await dashboard.ask(`/api/sessions/${second}`, { method: "DELETE" });
  assert.deepEqual(removed.json(), { ok: true });
  assert.equal((await dashboard.ask(`/api/sessions/${second}`)).status, 404);
});

test("messages: pages in both directions, bounds, and no secret in a body", async (t) => {
  const dashboard = await openDashboard(t, { dotEnv: `OPENAI_API_KEY=${SECRET}\n` });
  const [id = ""] = await fill(dashboard);
  const page = async (query: string) =>
    (await dashboard.ask(`/api/sessions/${id}/messages?${query}`)).json<{
      session_id: string;
      messages: { id: number; role: string; content: string }[];
      pagination: object;
    }>();
  const all = await page("");
  assert.deepEqual(all.pagination, { limit: 200, offset: 0, order: "asc", total: 2 });
  assert.equal(all.messages[0]?.content, "question 1 about [redacted:OPENAI_API_KEY]");
  const newest = await page("order=desc&limit=1");
  assert.equal(newest.messages[0]?.role, "assistant");
  const before = await page(`before=${newest.messages[0]?.id ?? 0}`);
  assert.deepEqual(
    before.messages.map(({ role }) => role),
    ["user"],
  );
  assert.equal((await dashboard.ask(`/api/sessions/${id}/messages?order=up`)).status, 422);
});

test("export as JSON lines and Markdown is redacted; import brings it back once", async (t) => {
  const dashboard = await openDashboard(t, { dotEnv: `OPENAI_API_KEY=${SECRET}\n` });
  const [id = ""] = await fill(dashboard);
  const lines = await dashboard.ask(`/api/sessions/${id}/export?format=jsonl`);
  assert.equal(lines.headers["content-disposition"], `attachment; filename="hermes-${id}.jsonl"`);
  const parsed = lines.body
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  assert.deepEqual(
    parsed.map(({ type }) => type),
    ["session", "message", "message"],
  );
  const markdown = await dashboard.ask(`/api/sessions/${id}/export?format=md`);
  assert.match(markdown.body, /^# Title 1\n[^]*## You\n\nquestion 1[^]*## Hermes\n\nanswer 1/);
  for (const { body } of [lines, markdown]) assert.ok(!body.includes(SECRET));
  assert.equal((await dashboard.ask(`/api/sessions/${id}/export?format=pdf`)).status, 422);
  await dashboard.ask(`/api/sessions/${id}`, { method: "DELETE" });
  const upload = () =>
    dashboard.ask("/api/sessions/import", {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: lines.body,
    });
  assert.deepEqual((await upload()).json(), { imported: 1, skipped: 0, renamed: [] });
  assert.deepEqual((await upload()).json(), { imported: 0, skipped: 1, renamed: [] });
  const wrong = await dashboard.ask("/api/sessions/import", { method: "POST", body: {} });
  assert.equal(wrong.status, 415);
});

test("fork copies what the model sees and ties nothing to the original", async (t) => {
  const dashboard = await openDashboard(t);
  const [id = ""] = await fill(dashboard);
  const forked = await dashboard.ask(`/api/sessions/${id}/fork`, { method: "POST" });
  assert.equal(forked.status, 201);
  const copy = String(forked.json()["session_id"]);
  const messages = (await dashboard.ask(`/api/sessions/${copy}/messages`)).json<{
    messages: unknown[];
  }>();
  assert.equal(messages.messages.length, 2);
  const newest = (await dashboard.ask(`/api/sessions/${id}/latest-descendant`)).json();
  assert.deepEqual(newest, {
    requested_session_id: id,
    session_id: id,
    path: [id],
    changed: false,
  });
});

test("counts, empty ones, bulk delete with a running one skipped and named, prune", async (t) => {
  const dashboard = await openDashboard(t, { demoDelayMs: 20 });
  const ids = await fill(dashboard);
  const made = await dashboard.ask("/api/chat/sessions", { method: "POST", body: {} });
  const running = String(made.json()["session_id"]);
  assert.deepEqual((await dashboard.ask("/api/sessions/empty/count")).json(), { count: 1 });
  await dashboard.ask(`/api/chat/sessions/${running}/messages`, {
    method: "POST",
    body: { text: "stream 500", client_message_id: "m-1" },
  });
  const stats = (await dashboard.ask("/api/sessions/stats")).json();
  assert.equal(stats["sessions"], 4);
  await until("the turn runs", async () => {
    const state = await dashboard.ask(`/api/chat/sessions/${running}`);
    return state.json()["status"] === "running";
  });
  const one = await dashboard.ask(`/api/sessions/${running}`, { method: "DELETE" });
  assert.deepEqual([one.status, one.json()["code"]], [409, "session_busy"]);
  const bulk = await dashboard.ask("/api/sessions/bulk-delete", {
    method: "POST",
    body: { ids: [ids[0], running, "nothing"] },
  });
  assert.deepEqual(bulk.json(), {
    deleted: 1,
    skipped: [
      { id: running, reason: "running" },
      { id: "nothing", reason: "not found" },
    ],
  });
  const prune = { older_than_days: 0 };
  assert.equal(
    (await dashboard.ask("/api/sessions/prune", { method: "POST", body: prune })).status,
    422,
  );
});

test("search: words are prefixes, a blank query is empty, snippets are marked", async (t) => {
  const dashboard = await openDashboard(t);
  await fill(dashboard);
  const search = async (q: string) =>
    (await dashboard.ask(`/api/sessions/search?q=${encodeURIComponent(q)}`)).json<{
      results: { session_id: string; snippet: string; session_started: string }[];
      partial: boolean;
    }>();
  assert.deepEqual(await search("  "), { results: [], partial: false });
  assert.equal((await dashboard.ask("/api/sessions/search")).status, 422);
  const found = await search("answer");
  assert.equal(found.results.length, 3);
  assert.match(found.results[0]?.snippet ?? "", />>>.*<<</);
});

test("logs: tail, level, component, search; redacted; unknown words 400 with the names", async (t) => {
  const dashboard = await openDashboard(t, { dotEnv: `OPENAI_API_KEY=${SECRET}\n` });
  const line = (level: string, component: string, msg: string): string =>
    JSON.stringify({ time: "2026-01-15T12:00:00.000Z", level, component, msg });
  mkdirSync(join(dashboard.home, "logs"), { recursive: true });
  const lines = [
    line("info", "cli", "first"),
    line("error", "agent", `key ${SECRET} failed`),
    line("warning", "cli", "third"),
  ];
  writeFileSync(join(dashboard.home, "logs", "agent.log"), `${lines.join("\n")}\n`);
  const get = async (query: string) =>
    (await dashboard.ask(`/api/logs?${query}`)).json<{ file: string; lines: string[] }>();
  const all = await get("");
  assert.deepEqual([all.file, all.lines.length], ["agent", 3]);
  assert.ok(!JSON.stringify(all).includes(SECRET));
  assert.deepEqual((await get("level=warning")).lines.length, 2);
  assert.deepEqual((await get("component=cli&level=ALL")).lines.length, 2);
  assert.deepEqual((await get("search=THIRD")).lines.length, 1);
  assert.deepEqual((await get("lines=1")).lines, [lines[2]]);
  assert.deepEqual((await get("file=gateway")).lines, []);
  for (const query of ["file=../../etc/passwd", "component=x", "level=loud"]) {
    const answer = await dashboard.ask(`/api/logs?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(String(answer.json()["detail"]), /there are \w+, /);
  }
});

test("analytics have the shapes of the table", async (t) => {
  const dashboard = await openDashboard(t);
  const [id = ""] = await fill(dashboard, 1);
  await dashboard.stores.get("default")?.addUsage({
    sessionId: id,
    provider: "demo",
    model: "demo",
    usage: { input: 10, output: 5, cacheRead: 1, cacheWrite: 0, reasoning: 2 },
    costUsd: 0.5,
    at: NOW,
  });
  const usage = (await dashboard.ask("/api/analytics/usage?days=7")).json<{
    daily: { input_tokens: number; api_calls: number }[];
    totals: Record<string, number>;
    period_days: number;
  }>();
  assert.deepEqual(
    [usage.period_days, usage.totals["total_input"], usage.totals["total_estimated_cost"]],
    [7, 10, 0.5],
  );
  const models = (await dashboard.ask("/api/analytics/models")).json<{
    models: { model: string; avg_tokens_per_session: number }[];
    totals: Record<string, number>;
  }>();
  assert.deepEqual(
    [models.totals["distinct_models"], models.models[0]?.avg_tokens_per_session],
    [1, 15],
  );
});

const STRANGER_KEYS = [
  "version",
  "release_date",
  "config_version",
  "latest_config_version",
  "gateway_running",
  "gateway_state",
  "gateway_platforms",
  "gateway_updated_at",
  "active_sessions",
  "auth_required",
  "auth_providers",
];

test("status: full on an open loopback bind; 11 keys on an insecure public one unless with the token", async (t) => {
  const loopback = await openDashboard(t);
  const full = (await loopback.stranger("/api/status")).json();
  assert.equal(Object.keys(full).length, 18);
  assert.equal(full["hermes_home"], loopback.home);
  const open = await openDashboard(t, { flags: { host: "0.0.0.0", insecure: true } });
  const headers = { "x-hermes-session-token": "wrong" };
  for (const answer of [
    await open.stranger("/api/status"),
    await open.stranger("/api/status", { headers }),
  ]) {
    assert.deepEqual(Object.keys(answer.json()).sort(), [...STRANGER_KEYS].sort());
    assert.ok(!answer.body.includes(open.home) && !/pid|http:/.test(answer.body));
  }
  assert.equal(Object.keys((await open.ask("/api/status")).json()).length, 18);
  assert.equal((await open.ask("/api/status?profile=nobody")).status, 404);
  assert.equal((await open.stranger("/api/status?profile=nobody")).status, 200);
});

test("status answers while the store is locked, and counts active sessions otherwise", async (t) => {
  const dashboard = await openDashboard(t);
  await dashboard.ask("/api/chat/sessions", { method: "POST", body: {} });
  // Sooner than the refresh that keeps an unasked snapshot warm.
  const isCounted = async (): Promise<boolean> =>
    (await dashboard.stranger("/api/status")).json()["active_sessions"] === 1;
  await until("the count", isCounted, 3000);
  const store = dashboard.stores.get("default") ?? assert.fail("no store");
  t.mock.method(store, "countActive", () => new Promise(() => undefined));
  for (let n = 0; n < 50; n++) {
    assert.equal((await dashboard.stranger("/api/status")).status, 200);
  }
});

test("a busy store is 503 with Retry-After, a damaged one 503, an unexpected error 500 with its id in the log", async (t) => {
  const dashboard = await openDashboard(t, { dotEnv: `OPENAI_API_KEY=${SECRET}\n` });
  const store = dashboard.stores.get("default") ?? assert.fail("no store");
  const failWith = (error: Error) => {
    t.mock.restoreAll();
    t.mock.method(store, "listSessions", () => {
      throw error;
    });
    return dashboard.ask("/api/sessions");
  };
  const busy = await failWith(new HermesError("STORE_BUSY", "busy"));
  assert.deepEqual(
    [busy.status, busy.json()["code"], busy.headers["retry-after"]],
    [503, "store_busy", "1"],
  );
  const damaged = await failWith(new HermesError("STORE_CORRUPT", "damaged"));
  assert.deepEqual([damaged.status, damaged.json()["code"]], [503, "store_failed"]);
  const fault = await failWith(new Error(`boom at /secret/path with ${SECRET}`));
  assert.equal(fault.status, 500);
  assert.deepEqual(fault.json(), {
    detail: "Internal server error",
    code: "internal",
    id: fault.headers["x-request-id"],
  });
  const logged = dashboard.logLines.join("\n");
  assert.ok(logged.includes(String(fault.json()["id"])) && logged.includes("boom"));
  assert.ok(!logged.includes(SECRET));
});

test("the page carries the token once in a nonce'd script, no other answer does; a restart has a new one", async (t) => {
  const dashboard = await openDashboard(t, { env: { HERMES_DASHBOARD_SESSION_TOKEN: "" } });
  const page = await dashboard.stranger("/chat/some-id");
  const token =
    /__HERMES_SESSION_TOKEN__="([\w-]{43})"/.exec(page.body)?.[1] ?? assert.fail("no token");
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.match(page.body, /href="\/assets\/app-DEADBEEF\.css"/);
  const headers = { "x-hermes-session-token": token };
  assert.equal((await dashboard.stranger("/api/sessions", { headers })).status, 200);
  const bearer = { authorization: `Bearer ${token}` };
  assert.equal((await dashboard.stranger("/api/sessions", { headers: bearer })).status, 200);
  const wrong = await dashboard.stranger("/api/sessions", {
    headers: { "x-hermes-session-token": LOCAL_TOKEN },
  });
  assert.deepEqual([wrong.status, wrong.json()], [401, { detail: "Unauthorized" }]);
  assert.equal((await dashboard.stranger(`/api/sessions?token=${token}`)).status, 401);
  const cookie = { cookie: `hermes_session_at=${token}` };
  assert.equal((await dashboard.stranger("/api/sessions", { headers: cookie })).status, 401);
  for (const path of ["/api/status", "/assets/app-DEADBEEF.js", "/sw.js", "/api/health"]) {
    assert.ok(!(await dashboard.stranger(path)).body.includes(token), path);
  }
});

test("static files: compressed, cached, revalidated; nothing but listed files", async (t) => {
  const webDist = writeWebDist(tempDir(t, "web"));
  symlinkSync("/etc/passwd", join(webDist, "assets", "link.js"));
  const dashboard = await openDashboard(t, { webDist });
  const path = "/assets/app-DEADBEEF.js";
  const plain = await dashboard.stranger(path);
  assert.equal(plain.headers["content-type"], "text/javascript; charset=utf-8");
  const { url } = dashboard;
  const packed = await fetch(`${url}${path}`, { headers: { "accept-encoding": "br" } });
  assert.equal(packed.headers.get("content-encoding"), "br");
  assert.equal(packed.headers.get("vary"), "Accept-Encoding");
  assert.equal(await packed.text(), plain.body);
  assert.ok(brotliDecompressSync.length >= 1);
  const headers = { "if-none-match": plain.headers["etag"] ?? "" };
  assert.equal((await dashboard.stranger(path, { headers })).status, 304);
  for (const bad of [
    "/assets/none.js",
    "/assets/link.js",
    "/assets/.hidden",
    "/assets/%2e%2e/index.html%00",
    "/assets/",
  ]) {
    const answer = await dashboard.stranger(bad);
    assert.ok([400, 404].includes(answer.status), `${bad} ${answer.status}`);
    assert.match(answer.headers["content-type"] ?? "", /json/);
  }
});

test("without a build pages answer 503 with the command, the API works", async (t) => {
  const dashboard = await openDashboard(t, { webDist: tempDir(t, "empty") });
  const page = await dashboard.stranger("/");
  assert.equal(page.status, 503);
  assert.match(page.body, /npm run build/);
  assert.equal((await dashboard.stranger("/api/health")).status, 200);
});

test("local mode: sign-in routes lead home or say that sign-in is off", async (t) => {
  const dashboard = await openDashboard(t);
  const page = await dashboard.stranger("/login");
  assert.equal(page.status, 200);
  assert.match(page.body, /No sign-in needed[^]*href="\/"/);
  for (const path of ["/auth/login?provider=x", "/auth/callback?code=x"]) {
    const answer = await dashboard.stranger(path);
    assert.deepEqual([answer.status, answer.headers["location"]], [302, "/"], path);
  }
  const providers = await dashboard.stranger("/api/auth/providers");
  assert.deepEqual(providers.json(), {
    detail: "no auth providers registered",
    code: "unsupported",
  });
  assert.equal(providers.status, 503);
  assert.equal((await dashboard.stranger("/healthz")).body, "ok");
  assert.deepEqual((await dashboard.stranger("/readyz")).json(), {
    ready: true,
    services: { dashboard: "ready", gateway: "unknown" },
  });
});
