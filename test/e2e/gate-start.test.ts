// What a start with which settings is, as a plain process (dashboard.md §14 rows 6, 7, 17, 43, 51; in the image: test/docker).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { runCli } from "../kit/cli.ts";
import { writeWebDist } from "../kit/dashboard.ts";
import { BASIC, BASIC_ENV, startGate } from "../kit/gate.ts";
import { ask } from "../kit/http.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const OPTIONS = { timeout: 60_000 };
const CLIENT = { HERMES_DASHBOARD_OAUTH_CLIENT_ID: "agent:inst-1" };

test(
  "6: 0.0.0.0 and a client id: the gate is on, the public paths are open, the provider is offered",
  OPTIONS,
  async (t) => {
    const gate = await startGate(t, { webDist: tempDir(t), env: CLIENT });
    const providers = await ask(`${gate.url}/api/auth/providers`);
    assert.equal(providers.status, 200);
    assert.deepEqual(providers.json()["providers"], [
      { name: "nous", display_name: "Nous Research", supports_password: false },
    ]);
    const status = await ask(`${gate.url}/api/status`);
    assert.equal(status.status, 200);
    const { auth_required: required, auth_providers: names } = status.json();
    assert.deepEqual([required, names], [true, ["nous"]]);
    assert.deepEqual((await ask(`${gate.url}/api/sessions`)).json(), {
      error: "unauthenticated",
      detail: "Unauthorized",
      reason: "no_cookie",
      login_url: "/login",
    });
    assert.match(gate.run.stderr(), /login gate is on \(bound to 0\.0\.0\.0\).*nous/u);
  },
);

test(
  "7: 0.0.0.0 with HERMES_DASHBOARD_INSECURE=1: open with the page's token, and said loudly",
  OPTIONS,
  async (t) => {
    const env = { ...CLIENT, HERMES_DASHBOARD_INSECURE: "1" };
    const gate = await startGate(t, { webDist: writeWebDist(tempDir(t)), env });
    const status = await ask(`${gate.url}/api/status`);
    assert.deepEqual([status.status, status.json()["auth_required"]], [200, false]);
    assert.equal(Object.keys(status.json()).length, 11);
    assert.equal((await ask(`${gate.url}/api/sessions`)).status, 401);
    const page = await ask(`${gate.url}/`);
    const token = /__HERMES_SESSION_TOKEN__\s*=\s*"([^"]+)"/u.exec(page.body)?.[1] ?? "";
    const headers = { "x-hermes-session-token": token };
    assert.equal((await ask(`${gate.url}/api/sessions`, { headers })).status, 200);
    assert.match(gate.run.stderr(), /^WARNING: .*without a login on 0\.0\.0\.0/mu);
  },
);

test("17: a public URL that is none: 78 naming setting and value", OPTIONS, async (t) => {
  const wrong = [
    "h.ex",
    "ftp://h.ex",
    "https://u@h.ex",
    "https://h.ex/?a",
    "https://h.ex/#a",
    "https://",
  ];
  for (const url of wrong) {
    const env = { ...BASIC_ENV, HERMES_DASHBOARD_PUBLIC_URL: url };
    const run = await runCli(["dashboard", "--port", "0"], { home: tempDir(t), env });
    assert.equal(run.code, 78, `${url}: ${run.stderr}`);
    assert.equal(run.stdout, "");
    assert.ok(run.stderr.includes("HERMES_DASHBOARD_PUBLIC_URL"), run.stderr);
  }
});

test(
  "17: with a public URL the way back is its own, whatever the headers say",
  OPTIONS,
  async (t) => {
    const env = { ...CLIENT, HERMES_DASHBOARD_PUBLIC_URL: "https://h.example.org/a" };
    const gate = await startGate(t, { webDist: tempDir(t), env });
    const cases: readonly Record<string, string>[] = [
      {},
      { "x-forwarded-proto": "http" },
      { "x-forwarded-prefix": "/other" },
      { "x-forwarded-host": "h.example.org:444" },
      {
        "x-forwarded-host": "127.0.0.1",
        "x-forwarded-proto": "http",
        "x-forwarded-for": "8.8.8.8",
      },
      { host: "h.example.org" },
      { origin: "https://evil.test", referer: "https://evil.test/" },
    ];
    for (const headers of cases) {
      const answer = await ask(`${gate.url}/auth/login?provider=nous`, { headers });
      const to = new URL(answer.headers["location"] ?? "", "http://none.invalid");
      assert.equal(
        to.searchParams.get("redirect_uri"),
        "https://h.example.org/a/auth/callback",
        JSON.stringify(headers),
      );
    }
  },
);

test(
  "43: behind the gate no page and no asset holds a token, to a stranger or signed in",
  OPTIONS,
  async (t) => {
    const token = "local-token-that-must-not-show";
    const env = { ...BASIC_ENV, HERMES_DASHBOARD_SESSION_TOKEN: token };
    const gate = await startGate(t, { webDist: writeWebDist(tempDir(t)), env });
    const login = await ask(`${gate.url}/auth/password-login`, {
      method: "POST",
      body: { provider: "basic", ...BASIC },
    });
    const cookie = login.setCookies.map((line) => line.split(";", 1)[0]).join("; ");
    const id = /hermes_session_at=([^;]+)/u.exec(cookie)?.[1] ?? "none";
    const paths = ["/", "/chat", "/login", "/assets/app-DEADBEEF.js", "/assets/app-DEADBEEF.css"];
    for (const path of [...paths, "/favicon.ico", "/sw.js", "/api/status"]) {
      for (const headers of [{}, { cookie }]) {
        const { body } = await ask(`${gate.url}${path}`, { headers });
        assert.ok(!body.includes(token) && !body.includes(id), path);
        assert.ok(!body.includes("__HERMES_SESSION_TOKEN__="), path);
      }
    }
    const headers = { "x-hermes-session-token": token };
    assert.equal((await ask(`${gate.url}/api/sessions`, { headers })).status, 401);
  },
);

test(
  "51: the status answers while a chat streams and the gateway's health address hangs",
  OPTIONS,
  async (t) => {
    let asked = 0;
    const hanging = createServer(() => asked++);
    await new Promise<void>((resolve) => {
      hanging.listen(0, "127.0.0.1", resolve);
    });
    t.after(() => {
      hanging.closeAllConnections();
      hanging.close();
    });
    const gate = await startGate(t, {
      webDist: tempDir(t),
      env: {
        ...BASIC_ENV,
        HERMES_DEMO_DELAY_MS: "5",
        GATEWAY_HEALTH_URL: `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`,
        // Longer than this test may take: whoever waited for it would be seen.
        GATEWAY_HEALTH_TIMEOUT: "120",
      },
    });
    await until("the address is asked", () => asked > 0);
    const login = await ask(`${gate.url}/auth/password-login`, {
      method: "POST",
      body: { provider: "basic", ...BASIC },
    });
    const headers = { cookie: login.setCookies.map((line) => line.split(";", 1)[0]).join("; ") };
    const post = (path: string, body: object) =>
      ask(`${gate.url}${path}`, { method: "POST", headers, body });
    const begun = await post("/api/chat/sessions", {});
    const path = `/api/chat/sessions/${String(begun.json()["session_id"])}`;
    await post(`${path}/messages`, { text: "stream 400", client_message_id: "one" });
    const state = async (): Promise<unknown> =>
      (await ask(`${gate.url}${path}`, { headers })).json()["status"];
    assert.equal(await state(), "running");
    for (let n = 0; n < 25; n++) {
      const [stranger, known] = await Promise.all([
        ask(`${gate.url}/api/status`),
        ask(`${gate.url}/api/status`, { headers }),
      ]);
      assert.deepEqual([stranger.status, Object.keys(stranger.json()).length], [200, 11]);
      assert.deepEqual([known.status, Object.keys(known.json()).length], [200, 18]);
    }
    assert.equal(await state(), "running");
  },
);
