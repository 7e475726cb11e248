// What happens before a route: Host, forwarded headers, prefix, cross-site rule, headers (dashboard.md §2, rows 18–23).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openDashboard, type TestDashboard } from "../kit/dashboard.ts";
import { askRaw } from "../kit/http.ts";

const ALLOWED = "model: {provider: demo}\ndashboard:\n  allowed_hosts: [allowed.example.org]\n";

interface HostRow {
  readonly loopback: string;
  readonly wildcard: string;
  readonly host: string;
}

const hosts: HostRow[] = readFileSync(new URL("../fixtures/hosts.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [loopback = "", wildcard = ""] = line.split(" ", 2);
    const host = line.slice(loopback.length + wildcard.length + 2).replace("<empty>", "");
    return { loopback, wildcard, host };
  });

async function checkHosts(
  dashboard: TestDashboard,
  expected: (row: HostRow) => string,
): Promise<void> {
  const { port } = dashboard.running;
  for (const row of hosts) {
    for (const path of ["/api/health", "/", "/assets/app-DEADBEEF.js"]) {
      const answer = await askRaw(port, [
        `GET ${path} HTTP/1.1`,
        `Host: ${row.host}`,
        "Connection: close",
        "",
        "",
      ]);
      assert.equal(String(answer.status), expected(row), `${row.host} ${path}`);
      if (answer.status === 400) assert.equal(answer.json()["code"], "bad_host", row.host);
    }
    const upgrade = await askRaw(port, upgradeLines(row.host));
    assert.equal(upgrade.status === 400, expected(row) === "400", `upgrade for ${row.host}`);
  }
}

function upgradeLines(host: string, more: readonly string[] = []): string[] {
  return [
    "GET /api/ws HTTP/1.1",
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...more,
    "",
    "",
  ];
}

test("hosts on a loopback bind: page, API, asset and upgrade alike", async (t) => {
  await checkHosts(await openDashboard(t, { config: ALLOWED }), (row) => row.loopback);
});

test("hosts on a wildcard bind without the gate: addresses and bare names only", async (t) => {
  const dashboard = await openDashboard(t, {
    config: ALLOWED,
    flags: { host: "0.0.0.0", insecure: true },
  });
  await checkHosts(dashboard, (row) => row.wildcard);
});

test("missing, double and contradicting hosts are refused", async (t) => {
  const { running } = await openDashboard(t);
  const { port } = running;
  const good = `Host: 127.0.0.1:${port}`;
  const cases = [
    ["GET /api/health HTTP/1.0", "", ""],
    ["GET /api/health HTTP/1.1", "Connection: close", "", ""],
    ["GET /api/health HTTP/1.1", good, "Host: evil.test", "Connection: close", "", ""],
    ["GET /api/health HTTP/1.1", good, good, "Connection: close", "", ""],
    ["GET http://evil.test/api/health HTTP/1.1", good, "Connection: close", "", ""],
    ["GET http://127.0.0.1:1/api/health HTTP/1.1", good, "Connection: close", "", ""],
  ];
  for (const lines of cases) {
    const answer = await askRaw(port, lines);
    assert.equal(answer.status, 400, lines.join(" | "));
    assert.equal(answer.json()["code"], "bad_host");
  }
  const absolute = `GET http://127.0.0.1:${port}/api/health HTTP/1.1`;
  assert.equal((await askRaw(port, [absolute, good, "Connection: close", "", ""])).status, 200);
});

test("a refused host is logged once, naming dashboard.allowed_hosts", async (t) => {
  const dashboard = await openDashboard(t);
  for (let n = 0; n < 3; n++) {
    const answer = await dashboard.stranger("/", { headers: { host: "evil.test" } });
    assert.match(String(answer.json()["detail"]), /evil\.test.*dashboard\.allowed_hosts/);
  }
  const lines = dashboard.logLines.filter((line) => line.includes("evil.test"));
  assert.equal(lines.length, 1);
});

test("forwarded headers of an untrusted peer change nothing; of a trusted one they do", async (t) => {
  const spoofed = {
    "x-forwarded-uri": "/api/status",
    "x-original-url": "/api/status",
    "x-forwarded-host": "evil.test",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/hermes",
    x_forwarded_prefix: "/other",
  };
  const plain = await openDashboard(t);
  assert.equal((await plain.stranger("/api/sessions", { headers: spoofed })).status, 401);
  const page = await plain.stranger("/auth/login", { headers: spoofed });
  assert.equal(page.headers["location"], "/");
  assert.equal(plain.logLines.filter((line) => line.includes("trusted_proxies")).length, 1);

  const behind = await openDashboard(t, {
    config: "model: {provider: demo}\ndashboard:\n  trusted_proxies: [loopback]\n",
  });
  const headers = { "x-forwarded-prefix": "/hermes" };
  assert.equal((await behind.stranger("/auth/login", { headers })).headers["location"], "/hermes/");
  assert.equal((await behind.stranger("/hermes/api/health", { headers })).status, 200);
  assert.equal((await behind.stranger("/api/health", { headers })).status, 200);
  const html = await behind.stranger("/hermes/chat", { headers });
  assert.match(html.body, /src="\/hermes\/assets\/app-DEADBEEF\.js"/);
  assert.match(html.body, /__HERMES_BASE_PATH__="\/hermes"/);
  const evil = await behind.stranger("/", { headers: { "x-forwarded-host": "evil.test" } });
  assert.equal(evil.status, 400);
});

test("a malformed prefix counts as none, with one warning per value", async (t) => {
  const dashboard = await openDashboard(t, {
    config: "model: {provider: demo}\ndashboard:\n  trusted_proxies: [loopback]\n",
  });
  const bad = ["//e", '/a"><script>', "/../x", "/a%0d%0aX", "https://e", `/${"a".repeat(256)}`];
  for (const prefix of [...bad, ...bad]) {
    const answer = await dashboard.stranger("/auth/login", {
      headers: { "x-forwarded-prefix": prefix },
    });
    assert.equal(answer.headers["location"], "/", prefix);
  }
  const warned = dashboard.logLines.filter((line) => line.includes("X-Forwarded-Prefix"));
  assert.equal(warned.length, bad.length);
  const longest = `/${"a".repeat(255)}`;
  const good = await dashboard.stranger("/auth/login", {
    headers: { "x-forwarded-prefix": longest },
  });
  assert.equal(good.headers["location"], `${longest}/`);
});

test("cross-site table with a valid token: only own pages and programs change anything", async (t) => {
  const dashboard = await openDashboard(t);
  const own = dashboard.url;
  const origins = { own, evil: "https://evil.test", sibling: "http://x.localhost", null: "null" };
  const sites = [undefined, "same-origin", "same-site", "cross-site"];
  for (const [name, origin] of Object.entries(origins)) {
    for (const site of sites) {
      const headers = { origin, ...(site === undefined ? {} : { "sec-fetch-site": site }) };
      const answer = await dashboard.ask("/api/chat/sessions", {
        method: "POST",
        headers,
        body: {},
      });
      assert.equal(answer.status, name === "own" ? 201 : 403, `${name} ${site}`);
      if (name !== "own") assert.equal(answer.json()["code"], "origin_not_allowed");
      assert.equal(answer.headers["access-control-allow-origin"], undefined);
    }
  }
  const sites2 = { "same-origin": 201, none: 403, "same-site": 403, "cross-site": 403 };
  for (const [site, status] of Object.entries(sites2)) {
    const headers = { "sec-fetch-site": site };
    const answer = await dashboard.ask("/api/chat/sessions", { method: "POST", headers, body: {} });
    assert.equal(answer.status, status, site);
  }
});

test("no Origin and no token: 401 for JSON, 403 for a form; a body must be JSON", async (t) => {
  const dashboard = await openDashboard(t);
  const path = "/api/chat/sessions";
  assert.equal((await dashboard.stranger(path, { method: "POST", body: {} })).status, 401);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const posted = await dashboard.stranger(path, { method: "POST", headers: form, body: "a=1" });
  assert.equal(posted.status, 403);
  const typed = await dashboard.ask(path, { method: "POST", headers: form, body: "a=1" });
  assert.deepEqual([typed.status, typed.json()["code"]], [415, "unsupported_media_type"]);
  const broken = await dashboard.ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{",
  });
  assert.equal(broken.status, 422);
  const wrong = await dashboard.ask(path, { method: "POST", body: { title: 5 } });
  assert.deepEqual(wrong.json<{ detail: { loc: unknown[] }[] }>().detail[0]?.loc, [
    "body",
    "title",
  ]);
  assert.equal(dashboard.stores.get("default")?.constructor.name, "MemoryStore");
  const list = await dashboard.ask("/api/sessions");
  assert.equal(list.json()["total"], 0);
});

test("CORS is off; with a list it echoes exactly, without credentials", async (t) => {
  const preflight = { origin: "https://app.example.org", "access-control-request-method": "POST" };
  const off = await openDashboard(t);
  const refused = await off.stranger("/api/sessions", { method: "OPTIONS", headers: preflight });
  assert.equal(refused.status, 403);
  assert.equal(refused.headers["access-control-allow-origin"], undefined);
  assert.equal((await off.stranger("/api/sessions", { method: "OPTIONS" })).status, 401);
  const plain = await off.ask("/api/sessions", { method: "OPTIONS" });
  assert.deepEqual([plain.status, plain.headers["allow"]], [405, "GET, HEAD"]);

  const on = await openDashboard(t, {
    config: "model: {provider: demo}\ndashboard:\n  cors_origins: ['https://app.example.org']\n",
  });
  const allowed = await on.stranger("/api/sessions", { method: "OPTIONS", headers: preflight });
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers["access-control-allow-origin"], "https://app.example.org");
  assert.equal(allowed.headers["access-control-allow-headers"], "authorization, content-type");
  assert.equal(allowed.headers["access-control-allow-credentials"], undefined);
  const evil = { ...preflight, origin: "https://evil.test" };
  assert.equal(
    (await on.stranger("/api/sessions", { method: "OPTIONS", headers: evil })).status,
    403,
  );
  const get = await on.ask("/api/sessions", { headers: { origin: "https://app.example.org" } });
  assert.equal(get.headers["access-control-allow-origin"], "https://app.example.org");
});

test("headers on page, JSON, asset, error and redirect; the nonce differs each time", async (t) => {
  const dashboard = await openDashboard(t);
  const cases: [string, string, number][] = [
    ["/", "no-store", 200],
    ["/api/health", "no-store", 200],
    ["/assets/app-DEADBEEF.js", "public, max-age=31536000, immutable", 200],
    ["/favicon.ico", "no-cache", 200],
    ["/api/sessions", "no-store", 401],
    ["/assets/none.js", "no-store", 404],
    ["/auth/login", "no-store", 302],
  ];
  const ids = new Set<string>();
  for (const [path, cache, status] of cases) {
    const { headers, status: got } = await dashboard.stranger(path);
    assert.equal(got, status, path);
    assert.equal(headers["cache-control"], cache, path);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["referrer-policy"], "same-origin");
    assert.equal(headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(headers["cross-origin-resource-policy"], "same-origin");
    assert.equal(headers["permissions-policy"], "camera=(), geolocation=(), microphone=()");
    assert.equal(headers["strict-transport-security"], undefined);
    ids.add(headers["x-request-id"] ?? "");
    if (path !== "/") {
      const csp = "default-src 'none'; frame-ancestors 'none'";
      assert.equal(headers["content-security-policy"], csp, path);
    }
  }
  assert.equal(ids.size, cases.length);
  const nonces = new Set<string>();
  for (let n = 0; n < 3; n++) {
    const page = await dashboard.stranger("/");
    const nonce = /'nonce-([^']+)'/.exec(page.headers["content-security-policy"] ?? "")?.[1] ?? "";
    assert.equal(Buffer.from(nonce, "base64").length, 16);
    assert.ok(page.body.includes(`<script nonce="${nonce}">`));
    nonces.add(nonce);
  }
  assert.equal(nonces.size, 3);
});

test("upgrades: foreign Origin 403, unknown path 404, no credential 101 and then a close", async (t) => {
  const { running, token } = await openDashboard(t);
  const { port } = running;
  const host = `127.0.0.1:${port}`;
  const evil = await askRaw(port, upgradeLines(host, ["Origin: https://evil.test"]));
  assert.deepEqual([evil.status, evil.json()["code"]], [403, "origin_not_allowed"]);
  const lines = upgradeLines(host);
  const unknown = await askRaw(port, [`GET /api/wsx?token=${token} HTTP/1.1`, ...lines.slice(1)]);
  assert.equal(unknown.status, 404);
  assert.equal((await askRaw(port, upgradeLines(host, [`Origin: http://${host}`]))).status, 101);
  assert.equal((await askRaw(port, lines)).status, 101);
});

test("an offer of HTTP/2 is ignored, the request is answered", async (t) => {
  const { running } = await openDashboard(t);
  const answer = await askRaw(running.port, [
    "GET /api/status HTTP/1.1",
    `Host: 127.0.0.1:${running.port}`,
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    "",
    "",
  ]);
  assert.equal(answer.status, 200);
});

test("limits: long headers 431, big JSON 413, big upload 413", async (t) => {
  const dashboard = await openDashboard(t);
  const { port } = dashboard.running;
  const long = await askRaw(port, [
    "GET /api/health HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    `X-Long: ${"a".repeat(17_000)}`,
    "",
    "",
  ]);
  assert.equal(long.status, 431);
  const text = "a".repeat(1024 * 1024);
  const json = await dashboard.ask("/api/chat/sessions", { method: "POST", body: { title: text } });
  assert.deepEqual([json.status, json.json()["code"]], [413, "too_large"]);
  const upload = await dashboard.ask("/api/chat/attachments", {
    method: "POST",
    headers: { "content-type": "image/png", "content-length": String(26 * 1024 * 1024) },
  });
  assert.equal(upload.status, 413);
});

test("wrong tokens are slowed down after 30 a minute, missing ones are not", async (t) => {
  const dashboard = await openDashboard(t);
  for (let n = 0; n < 35; n++)
    assert.equal((await dashboard.stranger("/api/sessions")).status, 401);
  const headers = { "x-hermes-session-token": "wrong" };
  const statuses = [];
  for (let n = 0; n < 31; n++) {
    statuses.push((await dashboard.stranger("/api/sessions", { headers })).status);
  }
  assert.deepEqual(statuses, [...Array(30).fill(401), 429]);
  assert.equal((await dashboard.ask("/api/sessions")).status, 200);
});
