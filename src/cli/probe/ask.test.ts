// One question against real sockets: every end of it is a value.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { systemClock } from "#base/clock.ts";
import { isHermesError } from "#base/errors.ts";
import {
  answering,
  answeringWith,
  connecting,
  hasOpenssl,
  listen,
  refusing,
  untrusted,
} from "../../../test/kit/answering.ts";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { until } from "../../../test/kit/until.ts";
import { ask, type Question } from "./ask.ts";
import type { Outcome } from "./outcome.ts";
import { openRoutes } from "./routes.ts";

function questionTo(url: string): Question {
  return {
    url: new URL(url),
    headers: { "user-agent": "hermes-probe" },
    timeoutMs: 20_000,
    limitBytes: 1000,
    wantsBody: () => true,
  };
}

function askAt(url: string, more: Partial<Question> = {}, env = {}, clock = systemClock) {
  const question = { ...questionTo(url), ...more };
  return ask(question, { clock, agentFor: openRoutes([question.url], env) });
}

const whole = (status: number, body = "", location: string | null = null): Outcome => ({
  kind: "answered",
  status,
  location,
  body,
  cut: null,
});

for (const status of [200, 302, 401, 403, 404, 500, 503]) {
  test(`${status} is a value: status and body`, async (t) => {
    const location = status === 302 ? "/login" : null;
    const headers = location === null ? {} : { location };
    const url = await answeringWith(t, status, `{"n":${status}}`, headers);
    assert.deepEqual(await askAt(url), whole(status, `{"n":${status}}`, location));
  });
}

test("the request: one GET, no cookie, own agent, a Host that is asked for", async (t) => {
  const seen: object[] = [];
  const url = await answering(t, ({ method, url: path, headers }, response) => {
    seen.push({ method, path, headers });
    response.setHeader("set-cookie", "a=1").end();
  });
  const headers = { "user-agent": "hermes-probe", host: "a.example.org" };
  await askAt(`${url}/x?y=1`, { headers });
  await askAt(`${url}/x?y=1`, { headers });
  const expected = {
    method: "GET",
    path: "/x?y=1",
    headers: { ...headers, connection: "close" },
  };
  assert.deepEqual(seen, [expected, expected]);
});

test("an upgrade that nobody wanted is an answer", async (t) => {
  const url = await connecting(t, (socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
  );
  assert.deepEqual(await askAt(url), whole(101));
});

test("a body that is longer than the limit is cut", async (t) => {
  const exact = await answeringWith(t, 200, "a".repeat(1000));
  assert.deepEqual(await askAt(exact), whole(200, "a".repeat(1000)));
  const endless = await answering(t, (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write("a".repeat(1500)));
      response.once("drain", more);
    };
    more();
  });
  assert.deepEqual(await askAt(endless), { ...whole(200, "a".repeat(1000)), cut: "too long" });
});

type Failure = readonly [what: string, reason: RegExp, open: (t: TestContext) => Promise<string>];

const FAILURES: readonly Failure[] = [
  ["refused", /^ECONNREFUSED$/, refusing],
  ["reset", /^ECONNRESET$/, (t) => connecting(t, (socket) => socket.resetAndDestroy())],
  ["closed without an answer", /^ECONNRESET$/, (t) => connecting(t, (socket) => socket.end())],
  ["no HTTP", /^HPE_/, (t) => connecting(t, (socket) => socket.end("SSH-2.0-x\r\n"))],
  ["endless headers", /^HPE_HEADER_OVERFLOW$/, (t) => connecting(t, floodHeaders)],
  ["no name", /^(ENOTFOUND|EAI_\w+)$/, async () => `http://${"a".repeat(64)}.invalid`],
  [
    "http behind https",
    /^EPROTO$/,
    async (t) => (await answeringWith(t, 200)).replace("http", "https"),
  ],
];

/** 200 lines of 1 KiB: more than any wall in front sends. */
function floodHeaders(socket: Socket): void {
  socket.write(`HTTP/1.1 200 OK\r\n${`x: ${"a".repeat(1024)}\r\n`.repeat(200)}`);
}

for (const [what, reason, open] of FAILURES) {
  test(`${what} is a value too: the error's name`, async (t) => {
    const outcome = await askAt(await open(t));
    assert.ok(outcome.kind === "failed");
    assert.match(outcome.reason, reason);
  });
}

test(
  "a certificate that nobody vouches for",
  { skip: !hasOpenssl() && "needs openssl" },
  async (t) => {
    const outcome = await askAt(await untrusted(t));
    assert.deepEqual(outcome, { kind: "failed", reason: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  },
);

test("an answer that breaks off is an answer with a cut body", async (t) => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc";
  const url = await connecting(t, (socket) => socket.end(head));
  assert.deepEqual(await askAt(url), { ...whole(200, "abc"), cut: "ECONNRESET" });
});

/** Asks, moves time to just before the limit and then to it; `started` tells when the server has done its part. */
async function askUntilLate(url: string, started: () => boolean, env = {}, more = {}) {
  const clock = new FakeClock();
  const outcome = { value: null as Outcome | null };
  const asked = askAt(url, { timeoutMs: 5000, ...more }, env, clock);
  void asked.then((value) => (outcome.value = value));
  await until("the question has arrived", started);
  await clock.advance(4999);
  assert.equal(outcome.value, null);
  await clock.advance(1);
  assert.equal(clock.pending, 0);
  return asked;
}

test("no answer in time", async (t) => {
  let count = 0;
  const url = await connecting(t, () => void count++);
  const outcome = await askUntilLate(url, () => count === 1);
  assert.deepEqual(outcome, { kind: "failed", reason: "timeout" });
});

test("no end of the body in time; nobody waits for a body that does not matter", async (t) => {
  let closed = 0;
  let count = 0;
  const url = await connecting(t, (socket) => {
    count++;
    socket.once("close", () => closed++);
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  });
  const outcome = await askUntilLate(url, () => count === 1);
  assert.deepEqual(outcome, { ...whole(200), cut: "timeout" });
  assert.deepEqual(await askAt(url, { wantsBody: () => false }), whole(200));
  await until("both connections are closed", () => closed === 2);
});

async function openProxy(t: TestContext, status: number) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(status).end("proxy");
  });
  server.on("connect", ({ url }, socket) => {
    seen.push(`CONNECT ${url}`);
    socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
  });
  return { seen, url: await listen(t, server) };
}

test("a proxy is for others, never for loopback, and NO_PROXY is heard", async (t) => {
  const proxy = await openProxy(t, 502);
  const own = await answeringWith(t, 200, "own");
  const everybody = own.replace("127.0.0.1", "0.0.0.0");
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: "" };
  for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
    assert.deepEqual(await askAt(own.replace("127.0.0.1", host), {}, env), whole(200, "own"), host);
  assert.deepEqual(proxy.seen, []);
  assert.deepEqual(await askAt("http://a.example/x", {}, env), whole(502, "proxy"));
  const tunnel = await askAt("https://a.example/x", {}, env);
  assert.deepEqual(tunnel, { kind: "failed", reason: "ERR_PROXY_TUNNEL" });
  const lower = { http_proxy: "", HTTP_PROXY: proxy.url };
  assert.deepEqual(await askAt(everybody, {}, lower), whole(200, "own"));
  const spared = { ...env, no_proxy: "0.0.0.0" };
  assert.deepEqual(await askAt(everybody, {}, spared), whole(200, "own"));
  assert.deepEqual(proxy.seen, ["GET http://a.example/x", "CONNECT a.example:443"]);
});

test("a foreign Host does not pass a proxy for plain http: 64, not the agent's fault", async (t) => {
  const proxy = await openProxy(t, 200);
  const headers = { host: "b.example" };
  await assert.rejects(
    askAt("http://a.example/", { headers }, { HTTP_PROXY: proxy.url }),
    (error) => {
      assert.ok(isHermesError(error, "USAGE"));
      assert.match(error.message, /HTTP_PROXY would not carry this Host to a\.example/);
      return true;
    },
  );
  assert.deepEqual(proxy.seen, []);
});

test("a proxy that hangs ends at the limit", async (t) => {
  let count = 0;
  const url = await connecting(t, () => void count++);
  const outcome = await askUntilLate("https://a.example/", () => count === 1, { HTTPS_PROXY: url });
  assert.deepEqual(outcome, { kind: "failed", reason: "timeout" });
});

test("a proxy that cannot be used is refused, without its value, unless nobody needs it", () => {
  for (const value of ["nonsense", "socks5://u:secret@h"]) {
    const env = { HTTP_PROXY: value };
    assert.throws(
      () => openRoutes([new URL("http://a.example")], env),
      (error) => {
        assert.ok(isHermesError(error, "PROXY_INVALID"));
        assert.equal(error.exit, 78);
        assert.match(error.message, /^HTTP_PROXY is not/);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
    assert.ok(openRoutes([new URL("http://127.0.0.1:1")], env));
  }
});
