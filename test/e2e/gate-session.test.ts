// A login over time, against a real portal that ends the chain when a refresh token is used twice (dashboard.md §14 rows 34,
// 35, 49): the server's clock is moved by hand, the portal's tokens with it.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { DEMO_LABEL } from "#model/demo-facts.ts";
import { NO_BROWSER, openProfile } from "../kit/browser.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { fetchIn, ownCookies } from "../kit/gate.ts";
import { openGated } from "../kit/gated.ts";
import { type Answer, ask } from "../kit/http.ts";
import { HOST, NO_NGINX, startNginx } from "../kit/nginx.ts";
import type { Issuer } from "../kit/oidc-issuer.ts";
import { PORTAL_CLIENT, startPortal } from "../kit/oidc-portal.ts";
import { createKeptLog, offerOf } from "../kit/oidc-providers.ts";
import { openSocket } from "../kit/socket.ts";
import { until } from "../kit/until.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 120_000 };

interface Visit {
  readonly portal: Issuer;
  readonly origin: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** `/api/auth/me`, asked as a program with the browser's cookies. */
  readonly me: () => Promise<Answer>;
  /** Moves server and portal on. */
  readonly pass: (seconds: number) => Promise<void>;
}

async function openSignedIn(t: TestContext): Promise<Visit> {
  const clock = new FakeClock(Date.now());
  const portal = await startPortal();
  t.after(() => portal[Symbol.asyncDispose]());
  const nous = { clientId: PORTAL_CLIENT, portalUrl: portal.url };
  const offer = offerOf("nous", { nous }, clock, createKeptLog());
  const gate = await openGated(t, { clock, withoutStub: true, more: [offer] });
  const origin = `http://${HOST}:${new URL(gate.url).port}`;
  const context = await openProfile(t);
  const page = await context.newPage();
  await page.goto(`${origin}/sessions`);
  assert.equal(page.url(), `${origin}/sessions`);
  const cookie = (await ownCookies(context)).join("; ");
  return {
    portal,
    origin,
    context,
    page,
    me: () => ask(`${gate.url}/api/auth/me`, { headers: { cookie } }),
    pass: async (seconds) => {
      portal.state.skewSeconds += seconds;
      await clock.advance(seconds * 1000);
    },
  };
}

test(
  "20 requests at once when the access token has ended: one call to the portal, all answered, twice over",
  OPTIONS,
  async (t) => {
    const { portal, me, pass, page } = await openSignedIn(t);
    const { calls } = portal.faults;
    for (const round of [1, 2]) {
      await pass(400);
      const before = calls.token;
      const hold = portal.faults.hold("token");
      const asked = Array.from({ length: 20 }, me);
      const fromPage = fetchIn(page, "/api/auth/me");
      await until("the portal is asked", () => hold.waiting() > 0);
      assert.equal(hold.waiting(), 1, `round ${round}`);
      hold.release();
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      assert.deepEqual(
        statuses,
        Array.from({ length: 20 }, () => 200),
        `round ${round}`,
      );
      assert.equal((await fromPage).status, 200);
      assert.equal(calls.token - before, 1, `round ${round}`);
    }
    assert.deepEqual(portal.errors, []);
  },
);

test(
  "the portal is away: open for the grace, then 503 with the cookie kept, and in again when it is back",
  OPTIONS,
  async (t) => {
    const { portal, origin, context, page, me, pass } = await openSignedIn(t);
    portal.faults.set("*", { kind: "cut" });
    const cookies = await ownCookies(context);
    await pass(300 + 10 * 60);
    assert.equal((await me()).status, 200);
    await pass(6 * 60);
    const refused = await me();
    assert.equal(refused.status, 503);
    assert.deepEqual(refused.json(), {
      detail: "Auth provider 'nous' unreachable",
      code: "provider_unreachable",
    });
    assert.equal(refused.headers["retry-after"], "10");
    assert.deepEqual(refused.setCookies, []);
    const shown = await page.goto(`${origin}/models?d=30`);
    assert.equal(shown?.status(), 503);
    assert.deepEqual(await ownCookies(context), cookies);
    const login = await page.context().newPage();
    assert.equal((await login.goto(`${origin}/login?fresh=1`))?.status(), 200);
    portal.faults.set("*", null);
    await pass(10);
    const again = page.waitForResponse(`${origin}/models?d=30`);
    await page.getByRole("link", { name: "Try again" }).click();
    assert.equal((await again).status(), 200);
    assert.equal((await me()).status, 200);
    assert.equal(portal.faults.calls.authorize, 1);
  },
);

test(
  "the portal has ended the login: 401 and the cookies cleared, the page shows the login",
  OPTIONS,
  async (t) => {
    const { portal, origin, context, page, pass } = await openSignedIn(t);
    portal.faults.set("token", { kind: "status", status: 400, json: { error: "invalid_grant" } });
    await pass(400);
    const refused = await fetchIn<Record<string, unknown>>(page, "/api/sessions");
    assert.equal(refused.status, 401);
    assert.deepEqual(refused.body, {
      error: "session_expired",
      detail: "Unauthorized",
      reason: "invalid_or_expired_session",
      login_url: "/login",
    });
    assert.deepEqual(await ownCookies(context), []);
    portal.faults.set("token", null);
    await page.goto(`${origin}/sessions`);
    assert.equal(page.url(), `${origin}/sessions`);
  },
);

test(
  "a proxy that cuts silent connections: pings keep the socket through it",
  { ...OPTIONS, skip: NO_NGINX },
  async (t) => {
    const clock = new FakeClock(Date.now());
    const gate = await openGated(t, { clock });
    const proxy = await startNginx(t, { idleSeconds: 1 });
    await proxy.publish(Number(new URL(gate.url).port));
    const url = `http://127.0.0.1:${proxy.port}`;
    const browser = gate.browser();
    await browser.login();
    const open = async () => {
      const answer = await browser.post("/api/auth/ws-ticket");
      return openSocket(url, { query: `?ticket=${answer.json<{ ticket: string }>().ticket}` });
    };
    const silent = await open();
    const opened = performance.now();
    await until("nginx cuts the silent one", () => silent.closed !== null);
    const lived = performance.now() - opened;

    const kept = await open();
    const start = performance.now();
    let pings = 0;
    kept.ws.on("ping", () => pings++);
    for (let round = 1; performance.now() - start < 2.5 * lived; round++) {
      await clock.advance(20_000);
      await until("a ping comes", () => pings === round);
      const next = start + (round * lived) / 4;
      await until("a quarter of the limit has passed", () => performance.now() > next);
    }
    assert.equal(kept.closed, null);
    kept.cut();
  },
);

test(
  "a reader that is 4 MiB behind, through nginx: 1013, and connected again it has every word once",
  { ...OPTIONS, skip: NO_NGINX },
  async (t) => {
    const clock = new FakeClock(Date.now());
    const gate = await openGated(t, { clock, demoDelayMs: 5 });
    const proxy = await startNginx(t);
    await proxy.publish(Number(new URL(gate.url).port));
    const browser = gate.browser();
    await browser.login();
    const begin = async (): Promise<string> => {
      const answer = await browser.post("/api/chat/sessions", {});
      return answer.json<{ session_id: string }>().session_id;
    };
    const say = async (session: string, text: string, key: string): Promise<void> => {
      const body = { text, client_message_id: key, when_busy: "queue" };
      const answer = await browser.post(`/api/chat/sessions/${session}/messages`, body);
      assert.equal(answer.status, 202, answer.body);
    };
    const open = async () => {
      const answer = await browser.post("/api/auth/ws-ticket");
      const { ticket } = answer.json<{ ticket: string }>();
      return openSocket(`http://127.0.0.1:${proxy.port}`, { query: `?ticket=${ticket}` });
    };
    const [heavy, talk] = [await begin(), await begin()];
    await say(heavy, "slow 60", "heavy");
    const first = await open();
    first.send({ type: "subscribe", topic: "config" });
    first.send({ type: "subscribe", session: heavy });
    first.send({ type: "subscribe", session: talk });
    await until(
      "the first looks",
      () => first.events(heavy).length * first.events(talk).length > 0,
    );
    await say(talk, "stream 300", "talk");
    await until("the first words", async () => {
      await clock.advance(40);
      return first.text(talk) !== "";
    });
    first.ws.pause();
    // Each of these tells the reader of all that wait: 50 MB together, more than two hops can hold for it.
    for (let n = 0; n < 20; n++) await say(heavy, "x".repeat(250_000), `heavy-${n}`);
    await until("the server gives the reader up", () => gate.running.counts().watchers === 0);
    first.ws.resume();
    await until("what was on its way comes, and then the close frame", () => first.closed);
    assert.deepEqual(first.closed, { code: 1013, reason: "reads too slowly" });

    const after = first.events(talk).at(-1)?.id ?? "";
    const second = await open();
    second.send({ type: "subscribe", session: talk, after });
    await until("the end of the turn", async () => {
      await clock.advance(40);
      return second.events(talk).some(({ event }) => event.type === "turn-end");
    });
    const words = Array.from({ length: 300 }, (_, index) => `word${index + 1}`).join(" ");
    assert.notEqual(second.text(talk), "");
    assert.equal(first.text(talk) + second.text(talk), `${DEMO_LABEL}\n${words}`);
    assert.ok(!second.events(talk).some(({ event }) => event.type === "snapshot"));
    second.cut();
  },
);
