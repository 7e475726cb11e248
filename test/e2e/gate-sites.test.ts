// What pages of other sites can do to somebody who is signed in: nothing (dashboard.md §2.5, §14 rows 22, 46, 62).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { FakeClock } from "../kit/fake-clock.ts";
import { NO_BROWSER, openProfile } from "../kit/browser.ts";
import { fetchIn } from "../kit/gate.ts";
import { type GatedDashboard, openGated } from "../kit/gated.ts";
import { HOST } from "../kit/nginx.ts";
import { until } from "../kit/until.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 120_000 };

interface Visit {
  readonly gate: GatedDashboard;
  readonly origin: string;
  readonly context: BrowserContext;
  readonly page: Page;
}

/** Signed in with the stub, on the server's page. */
async function openSignedIn(t: TestContext, clock?: FakeClock): Promise<Visit> {
  const gate = await openGated(t, clock ? { clock } : {});
  const origin = `http://${HOST}:${new URL(gate.url).port}`;
  const context = await openProfile(t);
  const page = await context.newPage();
  await page.goto(`${origin}/sessions`);
  assert.equal(page.url(), `${origin}/sessions`);
  assert.equal((await fetchIn(page, "/api/auth/me")).status, 200);
  return { gate, origin, context, page };
}

/** A server of somebody else; its pages are empty and may do anything. Returns its port. */
async function startOther(t: TestContext): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Another site</title>");
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

type SocketEnd = { readonly opened: boolean; readonly code: number };

/** Opens a socket as the page's script and waits for its end, or for the first frame. */
function trySocket(page: Page, url: string): Promise<SocketEnd> {
  return page.evaluate<SocketEnd>(`new Promise((resolve) => {
    let opened = false;
    const socket = new WebSocket(${JSON.stringify(url)});
    socket.addEventListener("open", () => { opened = true; });
    socket.addEventListener("message", () => resolve({ opened, code: 0 }));
    socket.addEventListener("close", ({ code }) => resolve({ opened, code }));
  })`);
}

interface Traffic {
  readonly url: string;
  origin: string;
  cookie: string;
  status: number;
}

/** What went over the wire, also where the page itself is not shown the answer. */
async function watchWire(page: Page): Promise<Map<string, Traffic>> {
  const wire = await page.context().newCDPSession(page);
  const seen = new Map<string, Traffic>();
  const of = (id: string): Traffic => {
    const found = seen.get(id) ?? { url: "", origin: "", cookie: "", status: 0 };
    seen.set(id, found);
    return found;
  };
  wire.on("Network.requestWillBeSent", ({ requestId, request }) =>
    Object.assign(of(requestId), { url: request.url }),
  );
  wire.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) =>
    Object.assign(of(requestId), {
      origin: headers["Origin"] ?? headers["origin"] ?? "",
      cookie: headers["Cookie"] ?? headers["cookie"] ?? "",
    }),
  );
  wire.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) =>
    Object.assign(of(requestId), { status: statusCode }),
  );
  await wire.send("Network.enable");
  return seen;
}

/** Waits for the answer to the only request to this address, and forgets it. */
async function answerOf(wire: Map<string, Traffic>, url: string): Promise<Traffic> {
  const [id, traffic] = await until(`an answer of ${url}`, () =>
    [...wire].find(([, one]) => one.url === url && one.status !== 0),
  );
  wire.delete(id);
  return traffic;
}

/** Bodies that pages may send anywhere without asking first. */
const SIMPLE = [
  { path: "/api/chat/sessions", type: "text/plain", body: "{}" },
  { path: "/api/chat/sessions", type: "application/x-www-form-urlencoded", body: "a=b" },
  { path: "/api/auth/ws-ticket", type: "text/plain", body: "" },
  { path: "/auth/logout", type: "application/x-www-form-urlencoded", body: "" },
  { path: "/auth/logout-all", type: "text/plain", body: "" },
];

for (const { site, isSibling, hostOf } of [
  {
    site: "a sibling sub-domain",
    isSibling: true,
    hostOf: (port: number) => `sibling.example.test:${port}`,
  },
  { site: "a foreign site", isSibling: false, hostOf: (port: number) => `127.0.0.1:${port}` },
]) {
  test(
    `a page of ${site} posts and opens sockets with our cookie: all refused`,
    OPTIONS,
    async (t) => {
      const { gate, origin, context, page } = await openSignedIn(t);
      const before = await fetchIn<{ total: number }>(page, "/api/sessions");
      const other = await context.newPage();
      const otherOrigin = `http://${hostOf(await startOther(t))}`;
      await other.goto(`${otherOrigin}/`);
      const wire = await watchWire(other);
      for (const { path, type, body } of SIMPLE) {
        const headers = { "Content-Type": type };
        const init = { method: "POST", mode: "no-cors", credentials: "include", body, headers };
        await other.evaluate(
          `fetch(${JSON.stringify(origin + path)}, ${JSON.stringify(init)}).catch(() => null)`,
        );
        const traffic = await answerOf(wire, origin + path);
        assert.deepEqual([traffic.status, traffic.origin], [403, otherOrigin], path);
        assert.equal(traffic.cookie.includes("hermes_session_at="), isSibling, path);
      }
      await other.evaluate(`{
        const form = document.createElement("form");
        form.method = "post";
        form.action = ${JSON.stringify(`${origin}/auth/logout`)};
        document.body.append(form);
        form.submit();
      }`);
      await other.waitForURL(`${origin}/auth/logout`);
      const form = await answerOf(wire, `${origin}/auth/logout`);
      assert.deepEqual([form.status, form.origin], [403, otherOrigin]);
      await other.goto(`${otherOrigin}/`);
      const socket = await trySocket(other, `${origin.replace("http", "ws")}/api/ws`);
      assert.deepEqual(socket, { opened: false, code: 1006 });

      assert.equal((await fetchIn(page, "/api/auth/me")).status, 200);
      const after = await fetchIn<{ total: number }>(page, "/api/sessions");
      assert.deepEqual(after.body, before.body);
      const own = await trySocket(page, `${origin.replace("http", "ws")}/api/ws`);
      assert.deepEqual(own, { opened: true, code: 0 });
      const refusals = gate.logLines.filter((line) => line.includes(otherOrigin));
      assert.equal(refusals.length, 1, refusals.join("\n"));
    },
  );
}

test(
  "tickets: one works once, at 30 s but not after; what is refused is seen as 4401",
  OPTIONS,
  async (t) => {
    const clock = new FakeClock(Date.now());
    const { origin, page } = await openSignedIn(t, clock);
    const mint = async (): Promise<string> => {
      const init = { method: "POST" };
      const { body } = await fetchIn<{ ticket: string; ttl_seconds: number }>(
        page,
        "/api/auth/ws-ticket",
        init,
      );
      assert.equal(body.ttl_seconds, 30);
      return body.ticket;
    };
    const url = (ticket: string): string =>
      `${origin.replace("http", "ws")}/api/ws?ticket=${ticket}`;
    const used = await mint();
    assert.deepEqual(await trySocket(page, url(used)), { opened: true, code: 0 });
    assert.deepEqual(await trySocket(page, url(used)), { opened: true, code: 4401 });
    assert.deepEqual(await trySocket(page, url("x".repeat(43))), { opened: true, code: 4401 });
    const late = await mint();
    await clock.advance(31_000);
    assert.deepEqual(await trySocket(page, url(late)), { opened: true, code: 4401 });
    const exact = await mint();
    await clock.advance(30_000);
    assert.deepEqual(await trySocket(page, url(exact)), { opened: true, code: 0 });
  },
);

test("signing out closes the open socket with 4401", OPTIONS, async (t) => {
  const { origin, context, page } = await openSignedIn(t);
  await page.evaluate(`{
    window.ends = [];
    window.own = new WebSocket(${JSON.stringify(`${origin.replace("http", "ws")}/api/ws`)});
    own.addEventListener("message", () => window.ends.push("ready"));
    own.addEventListener("close", ({ code }) => window.ends.push(code));
  }`);
  await until("it is open", () => page.evaluate("ends.length === 1"));
  const other = await context.newPage();
  await other.goto(`${origin}/sessions`);
  const left = await fetchIn(other, "/auth/logout", {
    method: "POST",
    headers: { Accept: "application/json" },
  });
  assert.deepEqual(left, { status: 200, body: { ok: true, login_url: "/login?logged_out=1" } });
  await until("it is closed", () => page.evaluate("ends.length === 2"), 2000);
  assert.deepEqual(await page.evaluate("ends"), ["ready", 4401]);
});
