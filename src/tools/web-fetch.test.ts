// A public site that leads inside (agent.md §5.4): the guard is the strict one, its resolver is ours, and what it let through is
// dialled at 127.0.0.1, as if the public address were routed there.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { isIP, type AddressInfo, type LookupFunction } from "node:net";
import { test, type TestContext } from "node:test";
import { systemClock } from "#base/clock.ts";
import { createAddressGuard, type AddressGuard } from "./address-guard.ts";
import { guardedFetch } from "./web-fetch.ts";

const PUBLIC = "93.184.215.14";
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "public.test": [PUBLIC],
  "other.test": [PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "inside.test": ["10.0.0.7"],
  "inside6.test": ["fd00::7"],
  "loop.test": ["127.0.0.1"],
  "metadata.test": ["169.254.169.254"],
};

const resolve = ((name: string, _options: unknown, callback: (...args: never[]) => void) => {
  const found = (NAMES[name] ?? []).map((address) => ({ address, family: isIP(address) }));
  (callback as (error: null, found: unknown) => void)(null, found);
}) as LookupFunction;

/** Same checks; every name that passes them is reached on loopback. */
function routedToLoopback(guard: AddressGuard): AddressGuard {
  const lookup: LookupFunction = (name, options, callback) =>
    guard.lookup(name, { ...options, all: true }, (error, found) => {
      if (error) callback(error, "");
      else if (options.all === true && Array.isArray(found) && found.length > 0) {
        callback(null, [{ address: "127.0.0.1", family: 4 }]);
      } else callback(null, "127.0.0.1", 4);
    });
  return { checkUrl: guard.checkUrl, lookup };
}

interface PublicSite {
  readonly port: number;
  /** Host and path of each request that arrived. */
  readonly seen: string[];
  fetch(path: string): Promise<string>;
}

async function openSite(t: TestContext): Promise<PublicSite> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { host = "" } = request.headers;
    const url = new URL(request.url ?? "/", "http://x");
    seen.push(`${host.replace(/:\d+$/u, "")}${url.pathname}`);
    const to = url.searchParams.get("to");
    if (to === null) response.end("arrived");
    else response.writeHead(Number(url.searchParams.get("status") ?? 302), { location: to }).end();
  });
  await new Promise<void>((done) => {
    server.listen(0, "127.0.0.1", done);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const guard = routedToLoopback(createAddressGuard({ allowPrivate: false, lookup: resolve }));
  return {
    port,
    seen,
    async fetch(path) {
      const answer = await guardedFetch(guard, {
        url: `http://public.test:${port}${path}`,
        accept: "*/*",
        signal: new AbortController().signal,
        clock: systemClock,
        wantsBody: () => true,
      });
      return answer.body?.toString("utf8") ?? "";
    },
  };
}

test("a public host is reached, and may lead to another public one", async (t) => {
  const site = await openSite(t);
  assert.equal(await site.fetch("/"), "arrived");
  const to = encodeURIComponent(`http://other.test:${site.port}/end`);
  assert.equal(await site.fetch(`/hop?to=${to}`), "arrived");
  assert.deepEqual(site.seen, ["public.test/", "public.test/hop", "other.test/end"]);
});

test("a public host that leads inside: refused at the redirect, nothing inside is asked", async (t) => {
  const site = await openSite(t);
  const { port } = site;
  const targets = [
    `http://127.0.0.1:${port}/`,
    `http://[::1]:${port}/`,
    `http://[::ffff:7f00:1]:${port}/`,
    `http://0:${port}/`,
    `http://2130706433:${port}/`,
    `http://0x7f.1:${port}/`,
    "http://10.0.0.7/",
    "http://192.168.1.1/admin",
    "http://172.17.0.1:2375/containers/json",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/",
    `http://inside.test:${port}/`,
    `http://inside6.test:${port}/`,
    `http://loop.test:${port}/`,
    "http://metadata.test/latest/meta-data/",
    `//loop.test:${port}/`,
  ];
  for (const status of [301, 302, 303, 307, 308]) {
    for (const target of targets) {
      const path = `/hop?status=${status}&to=${encodeURIComponent(target)}`;
      const what = `${status} ${target}`;
      await assert.rejects(site.fetch(path), { code: "ADDRESS_REFUSED" }, what);
      assert.deepEqual(site.seen.splice(0), ["public.test/hop"], what);
    }
  }
});

test("other ways out of http are no way in: files, low ports, names in the URL, a sixth redirect", async (t) => {
  const site = await openSite(t);
  const cases = [
    ["file:///etc/passwd", "BAD_URL"],
    ["gopher://other.test/", "BAD_URL"],
    ["http://other.test:22/", "BAD_URL"],
    [`http://u:p@other.test:${site.port}/`, "BAD_URL"],
  ] as const;
  for (const [target, code] of cases) {
    await assert.rejects(site.fetch(`/hop?to=${encodeURIComponent(target)}`), { code }, target);
  }
  let path = "/end";
  for (let hop = 0; hop < 6; hop++) path = `/hop?to=${encodeURIComponent(path)}`;
  await assert.rejects(site.fetch(path), { code: "TOO_MANY_REDIRECTS" });
});
