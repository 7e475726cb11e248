// Which way requests to an issuer take (dashboard.md §5.1, §14 row 33): a real proxy on loopback.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { silentLog } from "#base/log.ts";
import { createOidcHttp } from "#auth/providers/oidc-http.ts";
import type { ProxySettings } from "#auth/providers/proxy.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { PORTAL_CLIENT, startPortal } from "../kit/oidc-portal.ts";
import { login, redirectProvider } from "../kit/oidc-providers.ts";
import { failsWith } from "./auth-provider.ts";

/** Refuses every tunnel and answers plain requests itself; notes what it was asked for. */
async function startProxy(t: TestContext) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"by":"proxy"}');
  });
  server.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function http(proxy: Partial<ProxySettings>) {
  return createOidcHttp({
    proxy: { http: "", https: "", none: "", ...proxy },
    clock: new FakeClock(),
  });
}

test("an issuer elsewhere is asked through the proxy", async (t) => {
  const proxy = await startProxy(t);
  const through = http({ https: proxy.url });
  const url = "https://id.example.test/token";
  await assert.rejects(through.fetch(url), failsWith("unreachable"));
  assert.deepEqual(proxy.asked, ["id.example.test:443"]);
});

test("an issuer on loopback never is", async (t) => {
  const proxy = await startProxy(t);
  const portal = await startPortal();
  t.after(() => portal[Symbol.asyncDispose]());
  const settings = {
    nous: { clientId: PORTAL_CLIENT, portalUrl: portal.url },
    proxy: { http: proxy.url, https: proxy.url, none: "" },
  };
  await login(redirectProvider("nous", settings, new FakeClock(Date.now()), silentLog));
  assert.deepEqual(proxy.asked, []);
});

test("NO_PROXY is honoured", async (t) => {
  const proxy = await startProxy(t);
  // `.invalid` resolves nowhere (RFC 6761): that it fails is not the point, but who was asked.
  const around = http({ https: proxy.url, none: ".invalid" });
  await assert.rejects(around.fetch("https://id.invalid/token"), failsWith("unreachable"));
  assert.deepEqual(proxy.asked, []);
});

test("a proxy that is no URL is named, its value is not", async () => {
  const broken = http({ https: "proxy-password-1234@host" });
  await assert.rejects(broken.fetch("https://id.example.test/token"), (error: Error) => {
    assert.match(error.message, /HTTPS_PROXY/u);
    assert.ok(!error.message.includes("proxy-password-1234"));
    return failsWith("unreachable")(error);
  });
});

test("the process's own variables are not read behind our back", async (t) => {
  const proxy = await startProxy(t);
  const saved = { ...process.env };
  t.after(() => {
    process.env = saved;
  });
  process.env = { ...saved, HTTPS_PROXY: proxy.url, https_proxy: proxy.url };
  const plain = http({ http: "http://127.0.0.1:9", none: "id.invalid" });
  await assert.rejects(plain.fetch("https://id.invalid/"), failsWith("unreachable"));
  const direct = http({});
  await assert.rejects(direct.fetch("https://id.invalid/"), failsWith("unreachable"));
  assert.deepEqual(proxy.asked, []);
});
