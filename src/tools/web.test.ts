// web_extract and web_search against real servers on loopback (agent.md §5.4, §12.2 row 28).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP, type AddressInfo, type LookupFunction } from "node:net";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { toolBench, toolSettings, type ToolBench } from "../../test/kit/tool-box.ts";
import { createAddressGuard } from "./address-guard.ts";
import { PRIVATE_RANGES } from "./policy.ts";
import { createWebSearch } from "./web-search.ts";

interface Site {
  readonly port: number;
  readonly requests: IncomingMessage[];
}

async function site(
  t: Pick<TestContext, "after">,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

const open = { ...toolSettings, security: { allow_private_urls: true } };

/** Answers each name with the addresses of the table, in turn. */
function lookupOf(
  table: Readonly<Record<string, readonly (readonly string[])[]>>,
): LookupFunction & { asked: string[] } {
  const asked: string[] = [];
  const lookup = (name: string, _options: unknown, callback: (...args: never[]) => void): void => {
    const turns = table[name] ?? [];
    const turn =
      turns[Math.min(asked.filter((other) => other === name).length, turns.length - 1)] ?? [];
    asked.push(name);
    const found = turn.map((address) => ({ address, family: isIP(address) }));
    (callback as (error: null, found: unknown) => void)(null, found);
  };
  return Object.assign(lookup as LookupFunction, { asked });
}

const one = async (
  bench: ToolBench,
  url: string,
): Promise<{ code: string | undefined; page: Record<string, unknown>; content: string }> => {
  const result = await bench.run("web_extract", { urls: [url] });
  return { code: result.code, page: result.json.results?.[0] ?? {}, content: result.content };
};

void test("every range of private-ranges.json: its examples are closed, its counter-examples are not", () => {
  const guard = createAddressGuard({ allowPrivate: false });
  const lenient = createAddressGuard({ allowPrivate: true });
  const urlOf = (address: string): string =>
    `http://${address.includes(":") ? `[${address}]` : address}/`;
  for (const range of PRIVATE_RANGES) {
    for (const address of range.blocks) {
      assert.throws(() => guard.checkUrl(urlOf(address)), { code: "ADDRESS_REFUSED" }, address);
      if (range.closed === "always") {
        assert.throws(() => lenient.checkUrl(urlOf(address)), { code: "ADDRESS_REFUSED" }, address);
      } else assert.ok(lenient.checkUrl(urlOf(address)), address);
    }
    for (const address of range.allows) assert.ok(guard.checkUrl(urlOf(address)), address);
  }
});

void test("every URL of test/fixtures/ssrf-urls.txt is refused with its code, no name is looked up", async (t) => {
  const lookup = lookupOf({});
  const bench = toolBench(t, { lookup });
  const text = readFileSync(new URL("../../test/fixtures/ssrf-urls.txt", import.meta.url), "utf8");
  const cases = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assert.ok(cases.length > 50);
  for (const line of cases) {
    const [want, url = ""] = line.split("\t");
    assert.equal((await one(bench, url)).code, want, url);
  }
  assert.deepEqual(lookup.asked, []);
});

void test("a name that leads inside is refused, also at the second look, also among others", async (t) => {
  const server = await site(t, (_request, response) => response.end("inside"));
  const lookup = lookupOf({
    "inside.test": [["127.0.0.1"]],
    "inside6.test": [["::1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "metadata.test": [["169.254.169.254"]],
    "rebinding.test": [["192.0.2.1"], ["127.0.0.1"]],
    "nowhere.test": [[]],
  });
  const bench = toolBench(t, { lookup });
  for (const name of [
    "inside.test",
    "inside6.test",
    "mapped.test",
    "metadata.test",
    "rebinding.test",
  ]) {
    assert.equal(
      (await one(bench, `http://${name}:${server.port}/`)).code,
      "ADDRESS_REFUSED",
      name,
    );
    assert.equal(
      (await one(bench, `http://${name}:${server.port}/`)).code,
      "ADDRESS_REFUSED",
      name,
    );
  }
  assert.equal((await one(bench, `http://nowhere.test:${server.port}/`)).code, "NAME_NOT_FOUND");
  assert.equal(server.requests.length, 0);
});

void test("what was checked is what is dialled: one look for one connection, closed addresses are left out", async (t) => {
  const server = await site(t, (_request, response) => response.end("answer"));
  // 127.0.0.2 stands for a public address: only metadata is closed here.
  const lookup = lookupOf({
    "mixed.test": [["169.254.169.254", "127.0.0.1"]],
    "flips.test": [["127.0.0.1"], ["169.254.169.254"]],
  });
  const bench = toolBench(t, { lookup, settings: open });
  assert.equal((await one(bench, `http://mixed.test:${server.port}/`)).page["markdown"], "answer");
  assert.equal((await one(bench, `http://flips.test:${server.port}/`)).page["markdown"], "answer");
  assert.equal(lookup.asked.filter((name) => name === "flips.test").length, 1);
  assert.equal((await one(bench, `http://flips.test:${server.port}/`)).code, "ADDRESS_REFUSED");
});

void test("redirects: followed up to five, each checked, never to metadata, files or low ports", async (t) => {
  const server = await site(t, (request, response) => {
    const url = new URL(request.url ?? "/", "http://x");
    const to = url.searchParams.get("to");
    const left = Number(url.searchParams.get("left") ?? "0");
    if (to !== null) response.writeHead(302, { location: to, "set-cookie": "a=1" }).end();
    else if (left > 0)
      response
        .writeHead(307, { location: `/?left=${left - 1}`, "set-cookie": "a=1" })
        .end("x".repeat(100_000));
    else response.end("arrived");
  });
  const bench = toolBench(t, { settings: open });
  const base = `http://127.0.0.1:${server.port}/`;
  const five = await one(bench, `${base}?left=5`);
  assert.equal(five.page["markdown"], "arrived");
  assert.equal(five.page["final_url"], `${base}?left=0`);
  assert.equal((await one(bench, `${base}?left=6`)).code, "TOO_MANY_REDIRECTS");
  assert.ok(
    server.requests.every((request) => request.headers.cookie === undefined),
    "cookies are not kept",
  );
  for (const [to, code] of [
    ["http://169.254.169.254/latest", "ADDRESS_REFUSED"],
    ["http://[::ffff:a9fe:a9fe]/", "ADDRESS_REFUSED"],
    ["//169.254.169.254/", "ADDRESS_REFUSED"],
    ["file:///etc/passwd", "BAD_URL"],
    ["http://user:x@127.0.0.1/", "BAD_URL"],
    ["http://127.0.0.1:22/", "BAD_URL"],
  ] as const) {
    assert.equal((await one(bench, `${base}?to=${encodeURIComponent(to)}`)).code, code, to);
  }
});

void test("allow_private_urls opens a private server, not metadata; without it the same server is closed", async (t) => {
  const server = await site(t, (_request, response) => response.end("inside"));
  const url = `http://127.0.0.1:${server.port}/`;
  assert.equal((await one(toolBench(t, { settings: open }), url)).page["markdown"], "inside");
  assert.equal(
    (await one(toolBench(t, { settings: open }), "http://169.254.169.254/")).code,
    "ADDRESS_REFUSED",
  );
  assert.equal((await one(toolBench(t), url)).code, "ADDRESS_REFUSED");
  assert.equal(server.requests.length, 1);
});

void test("sizes are counted after decompression: bombs end early", async (t) => {
  const bombs: Readonly<Record<string, Buffer>> = {
    gzip: gzipSync(Buffer.alloc(200 * 1024 * 1024)),
    br: brotliCompressSync(Buffer.alloc(50 * 1024 * 1024)),
    identity: Buffer.alloc(6 * 1024 * 1024, "x"),
  };
  const server = await site(t, (request, response) => {
    const encoding = (request.url ?? "/").slice(1);
    response
      .writeHead(200, { "content-type": "text/plain", "content-encoding": encoding })
      .end(bombs[encoding]);
  });
  const bench = toolBench(t, { settings: open });
  const before = process.memoryUsage.rss();
  for (const encoding of Object.keys(bombs)) {
    assert.equal(
      (await one(bench, `http://127.0.0.1:${server.port}/${encoding}`)).code,
      "TOO_LARGE",
      encoding,
    );
  }
  assert.ok(process.memoryUsage.rss() - before < 300 * 1024 * 1024);
});

const PAGE = `<!doctype html><html><head><title>A title</title><style>p{}</style></head><body>
<nav><a href="/menu">Menu</a></nav>
<article><h1>Head\u200Bing</h1><p>First paragraph with a <a href="/link?x=1">link</a> and <b>bold</b> text, long enough to count as an article for the reader of pages.</p>
<p>Second paragraph, which also says something at length, so that the extraction is sure of itself. ${"More words follow here. ".repeat(60)}</p>
<script>alert("planted-script")</script><a href="javascript:alert(1)">bad</a><img src="data:image/png;base64,AAAA">
<pre><code>code()</code></pre></article></body></html>`;

void test("HTML becomes Markdown: links absolute, scripts gone, marked untrusted, cut at web.max_page_chars", async (t) => {
  const server = await site(t, (request, response) => {
    if (request.url === "/gzip") {
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8", "content-encoding": "gzip" })
        .end(gzipSync(PAGE));
    } else response.writeHead(404, { "content-type": "text/html" }).end(PAGE);
  });
  const base = `http://127.0.0.1:${server.port}`;
  const bench = toolBench(t, { settings: open });
  const { page, content } = await one(bench, `${base}/gzip`);
  const markdown = String(page["markdown"]);
  assert.equal(page["title"], "A title");
  assert.equal(page["status"], 200);
  assert.match(markdown, /\[link\]\(http:\/\/127\.0\.0\.1:\d+\/link\?x=1\)/);
  assert.match(markdown, /\*\*bold\*\*/);
  assert.match(markdown, /code\(\)/);
  assert.ok(!/planted-script|javascript:|data:image|\u200B|<p>/.test(markdown), markdown);
  assert.equal(JSON.parse(content).untrusted, true);
  assert.equal((await one(bench, `${base}/gone`)).page["status"], 404);
  const short = toolBench(t, { settings: { ...open, web: { ...open.web, max_page_chars: 1000 } } });
  const cut = (await one(short, `${base}/gzip`)).page;
  assert.equal(cut["truncated"], true);
  assert.equal(String(cut["markdown"]).length, 1000);
});

void test("text, JSON and charsets; other types are refused without reading them", async (t) => {
  const bodies: Readonly<Record<string, readonly [string, Buffer]>> = {
    "/text": ["text/plain", Buffer.from("plain é")],
    "/json": ["application/json", Buffer.from('{"a":1}')],
    "/latin1": ["text/plain; charset=iso-8859-1", Buffer.from([0x61, 0xe9])],
    "/garbage": ["text/plain; charset=nonsense", Buffer.from([0x61, 0xff])],
    "/zip": ["application/zip", Buffer.alloc(100)],
    "/deep": ["text/html", Buffer.from(`${"<div>".repeat(20_000)}deep text`)],
    "/heavy": [
      "text/html",
      Buffer.from(
        `<title>Heavy</title>${`${"<div>".repeat(90)}text, more${"</div>".repeat(90)}`.repeat(200)}`,
      ),
    ],
    "/empty": ["text/html", Buffer.alloc(0)],
  };
  const server = await site(t, (request, response) => {
    const [type, body] = bodies[request.url ?? ""] ?? ["text/plain", Buffer.alloc(0)];
    response.writeHead(200, { "content-type": type }).end(body);
  });
  const bench = toolBench(t, { settings: open });
  const read = async (path: string) => one(bench, `http://127.0.0.1:${server.port}${path}`);
  assert.equal((await read("/text")).page["markdown"], "plain é");
  assert.equal((await read("/json")).page["markdown"], '{"a":1}');
  assert.equal((await read("/latin1")).page["markdown"], "aé");
  assert.equal((await read("/garbage")).page["markdown"], "a\uFFFD");
  assert.equal((await read("/zip")).code, "UNSUPPORTED_TYPE");
  assert.match(String((await read("/deep")).page["markdown"]), /deep text/);
  assert.equal((await read("/empty")).page["markdown"], "");
  const heavy = await read("/heavy");
  assert.match(String(heavy.page["markdown"]), /^text, more$/m);
  assert.equal(heavy.page["title"], "Heavy");
});

void test("one bad page among good ones is told beside them; an abort ends all", async (t) => {
  const server = await site(t, (request, response) => {
    if (request.url !== "/hang") response.end("ok");
  });
  const bench = toolBench(t, { settings: open });
  const base = `http://127.0.0.1:${server.port}`;
  const mixed = await bench.run("web_extract", { urls: [`${base}/a`, "ftp://x", `${base}/b`] });
  assert.equal(mixed.ok, true);
  assert.deepEqual(
    mixed.json.results.map((page: { code?: string }) => page.code ?? "page"),
    ["page", "BAD_URL", "page"],
  );
  const stop = new AbortController();
  const waiting = bench.run("web_extract", { urls: [`${base}/hang`] }, { signal: stop.signal });
  stop.abort();
  assert.equal((await waiting).ok, false);
  const closed = await bench.run("web_extract", { urls: ["http://127.0.0.1:1025/"] });
  assert.equal(closed.code, "FETCH_FAILED");
});

void test("web_search: SearXNG at a private address that the user configured, results cleaned and marked", async (t) => {
  const server = await site(t, (request, response) => {
    const url = new URL(request.url ?? "", "http://x");
    assert.equal(url.pathname, "/search");
    assert.equal(url.searchParams.get("format"), "json");
    assert.equal(url.searchParams.get("q"), "two words & more");
    const result = { title: "A <b>title</b>", url: "https://example.com/", content: "Some\n text" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        results: [result, { title: "no url" }, ...Array.from({ length: 9 }, () => result)],
      }),
    );
  });
  const web = { ...toolSettings.web, searxng_url: `http://127.0.0.1:${server.port}/` };
  const bench = toolBench(t, { settings: { ...toolSettings, web } });
  const { json } = await bench.run("web_search", { query: "two words & more", limit: 2 });
  assert.equal(json.untrusted, true);
  assert.equal(json.results.length, 2);
  assert.deepEqual(json.results[0], {
    title: "A title",
    url: "https://example.com/",
    snippet: "Some text",
  });
});

void test("web_search: Brave and Tavily send their key; a refused key is told; nothing configured, not offered", async (t) => {
  const server = await site(t, (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const hit = {
        title: "t",
        url: "https://example.com/",
        description: "brave",
        content: "tavily",
      };
      if (request.headers["x-subscription-token"] === "brave-key-1") {
        response.end(JSON.stringify({ web: { results: [hit] } }));
      } else if (request.headers.authorization === "Bearer tavily-key-1") {
        assert.deepEqual(JSON.parse(body), { query: "q", max_results: 5 });
        response.end(JSON.stringify({ results: [hit] }));
      } else response.writeHead(401).end("nope");
    });
  });
  const endpoints = {
    brave: `http://127.0.0.1:${server.port}/brave`,
    tavily: `http://127.0.0.1:${server.port}/tavily`,
  };
  const search = async (env: Record<string, string>): Promise<unknown> => {
    const bench = toolBench(t, { env });
    const tool = createWebSearch(bench.deps, endpoints);
    const context = { signal: new AbortController().signal, clock: bench.deps.clock } as never;
    return tool.run({ query: "q" }, context).catch((error: { code: string }) => error.code);
  };
  const hit = (snippet: string) => ({
    results: [{ title: "t", url: "https://example.com/", snippet }],
  });
  assert.deepEqual(await search({ BRAVE_API_KEY: "brave-key-1" }), hit("brave"));
  assert.deepEqual(await search({ TAVILY_API_KEY: "tavily-key-1" }), hit("tavily"));
  assert.equal(await search({ BRAVE_API_KEY: "wrong" }), "SEARCH_FAILED");
  assert.equal(toolBench(t).box.find("web_search"), null);
  assert.ok(toolBench(t, { env: { BRAVE_API_KEY: "x" } }).box.find("web_search"));
});
