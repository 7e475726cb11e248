// `hermes probe` as a portal runs it: rows 13 and 64 of dashboard.md §14, field-rules I07.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import {
  answering,
  answeringWith,
  connecting,
  hasOpenssl,
  OUR_STATUS,
  refusing,
  untrusted,
} from "../kit/answering.ts";
import { runCli, startCli, type CliResult } from "../kit/cli.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

interface Result {
  readonly url: string;
  readonly alive: boolean;
  readonly state: string;
  readonly code: number | null;
  readonly auth_required: boolean | null;
  readonly version: string | null;
  readonly gateway_state: string | null;
  readonly ms: number;
  readonly reason: string | null;
}

function probe(t: TestContext, words: readonly string[], env = {}): Promise<CliResult> {
  return runCli(["probe", ...words], { home: tempDir(t), env });
}

function resultsOf({ stdout }: CliResult): readonly Result[] {
  const body = JSON.parse(stdout) as { schema: number; results: readonly Result[] };
  assert.deepEqual(Object.keys(body), ["schema", "results"]);
  assert.equal(body.schema, 1);
  return body.results;
}

type Row = readonly [url: string, code: number | null, state: string, reason: RegExp];

async function openRows(t: TestContext): Promise<readonly Row[]> {
  const login = { location: "/login?next=%2Fapi%2Fstatus" };
  const elsewhere = { location: "https://sso.example.org/authorize" };
  const badHost = '{"detail":"Invalid Host header","code":"bad_host"}';
  const rows: readonly Row[] = [
    [await answeringWith(t, 200, OUR_STATUS), 200, "running", /^null$/],
    [await answeringWith(t, 401, '{"code":"unauthenticated"}'), 401, "gated", /hides the status/],
    [await answeringWith(t, 403), 403, "gated", /hides the status/],
    [await answeringWith(t, 302, "", login), 302, "gated", /hides the status/],
    [await answeringWith(t, 302, "", elsewhere), 302, "gated", /hides the status/],
    [await answeringWith(t, 400, badHost), 400, "gated", /dashboard\.allowed_hosts/],
    [await answeringWith(t, 400, '{"code":"bad_path"}'), 400, "down", /^400$/],
    [await answeringWith(t, 404), 404, "down", /^foreign$/],
    [await answeringWith(t, 200, "<!doctype html>"), 200, "down", /^foreign$/],
    [await answeringWith(t, 500), 500, "down", /^500$/],
    [await answeringWith(t, 503), 503, "starting", /^503$/],
    [await connecting(t, () => undefined), null, "down", /^timeout$/],
    [await refusing(), null, "down", /^ECONNREFUSED$/],
    [await connecting(t, (socket) => socket.resetAndDestroy()), null, "down", /^ECONNRESET$/],
    [(await answeringWith(t, 200, OUR_STATUS)).replace("http", "https"), null, "down", /^EPROTO$/],
  ];
  if (!hasOpenssl()) return rows;
  return [...rows, [await untrusted(t), null, "down", /^DEPTH_ZERO_SELF_SIGNED_CERT$/]];
}

test("every answer has its state, code and reason, in the order of the addresses", async (t) => {
  const rows = await openRows(t);
  const urls = rows.map(([url]) => url);
  const done = await probe(t, [...urls, "--json", "--timeout", "2", "--concurrency", "3"]);
  assert.equal(done.code, 1);
  assert.equal(done.stderr, "");
  const results = resultsOf(done);
  assert.deepEqual(
    results.map(({ url }) => url),
    urls,
  );
  const isRunning = (state: string): boolean => state === "running";
  for (const [index, [url, code, state, reason]] of rows.entries()) {
    const { reason: found, ms, ...rest } = results[index] as Result;
    assert.match(String(found), reason);
    assert.ok(Number.isInteger(ms) && ms >= 0 && (found !== "timeout" || ms >= 1900));
    assert.deepEqual(rest, {
      url,
      alive: code !== null,
      state,
      code,
      auth_required: isRunning(state) ? true : null,
      version: isRunning(state) ? "1.2.3" : null,
      gateway_state: isRunning(state) ? "stopped" : null,
    });
  }
});

test("exit codes: the worst state decides, or with --expect the codes alone", async (t) => {
  const ours = await answeringWith(t, 200, OUR_STATUS);
  const gated = await answeringWith(t, 401);
  const starting = await answeringWith(t, 503);
  const down = await refusing();
  const cases: readonly (readonly [words: string, exit: number])[] = [
    [ours, 0],
    [`${ours} ${gated}`, 0],
    [`${ours} ${starting}`, 75],
    [`${starting} ${down} ${ours}`, 1],
    [`${gated} --expect 401`, 0],
    [`${gated} ${ours} --expect 401`, 1],
    [`${starting} --expect 503`, 0],
    [`${down} --expect 200`, 1],
  ];
  for (const [words, exit] of cases) {
    assert.equal((await probe(t, words.split(" "))).code, exit, words);
  }
});

test("a table for people: rows on stdout, the sum on stderr", async (t) => {
  const ours = await answeringWith(t, 200, OUR_STATUS);
  const foreign = await answeringWith(t, 404);
  const both = await probe(t, [ours, foreign]);
  const lines = both.stdout.trimEnd().split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[0] ?? "", /^URL +STATE +CODE +LOGIN +GATEWAY +VERSION +MS +REASON$/);
  assert.match(lines[1] ?? "", /^http:\/\/\S+ +running +200 +yes +stopped +1\.2\.3 +\d+$/);
  assert.match(
    lines[2] ?? "",
    /^http:\/\/\S+ +down +404 .* foreign: another server answers there$/,
  );
  assert.equal(both.stderr, "2 agents: 1 running, 1 down\n");
  assert.equal((await probe(t, [ours])).stderr, "");
});

test("the request: one GET without cookie, redirects not followed, headers that were given", async (t) => {
  const seen: string[] = [];
  const url = await answering(t, ({ method, url: path, headers }, response) => {
    seen.push(
      `${method} ${path} ${headers["user-agent"]} ${String(headers["x-a"])} ${headers.cookie}`,
    );
    response.writeHead(302, { location: "/login", "set-cookie": "a=1" }).end();
  });
  const words = [`${url}/hermes/`, `${url}/hermes`, "--concurrency", "1"];
  assert.equal((await probe(t, [...words, "--header", "X-A: 1", "--header", "X-B:2"])).code, 0);
  const line = "GET /hermes/api/status hermes-probe 1 undefined";
  assert.deepEqual(seen, [line, line]);
});

test("--concurrency bounds how many are out at once", async (t) => {
  const waiting: (() => void)[] = [];
  let most = 0;
  const url = await answering(t, (_request, response) => {
    waiting.push(() => response.end(OUR_STATUS));
    most = Math.max(most, waiting.length);
  });
  const words = ["probe", ...Array.from({ length: 6 }, () => url), "--concurrency", "2", "--json"];
  const running = startCli(words, { home: tempDir(t) });
  for (let round = 0; round < 3; round++) {
    await until("two questions have come", () => waiting.length === 2);
    for (const answer of waiting.splice(0)) answer();
  }
  const done = await running.ended;
  assert.equal(done.code, 0);
  assert.equal(resultsOf(done).length, 6);
  assert.equal(most, 2);
});

test("HTTP_PROXY is not for loopback, whatever else is set; for others it is", async (t) => {
  const seen: string[] = [];
  const proxy = await answering(t, ({ url }, response) => {
    seen.push(url ?? "");
    response.end(OUR_STATUS.replace("1.2.3", "behind-the-proxy"));
  });
  const ours = await answeringWith(t, 200, OUR_STATUS);
  const localhost = ours.replace("127.0.0.1", "localhost");
  const env = { HTTP_PROXY: proxy, http_proxy: proxy, NODE_USE_ENV_PROXY: "1" };
  const done = await probe(t, [ours, localhost, "http://a.example", "--json"], env);
  assert.deepEqual(
    resultsOf(done).map(({ version }) => version),
    ["1.2.3", "1.2.3", "behind-the-proxy"],
  );
  assert.deepEqual(seen, ["http://a.example/api/status"]);
  const bad = await probe(t, ["http://a.example"], { HTTP_PROXY: "socks5://u:secret@h:1" });
  assert.equal(bad.code, 78);
  assert.match(bad.stderr, /HTTP_PROXY is not an http:\/\/ or https:\/\/ address/);
  assert.doesNotMatch(bad.stderr, /secret/);
});

test("--raw: status and body of any HTTP answer, 69 without one", async (t) => {
  const cases: readonly (readonly [status: number, body: string])[] = [
    [200, "<p>é\n</p>"],
    [401, '{"code":"unauthenticated"}'],
    [302, ""],
    [404, "no"],
    [500, "broken"],
  ];
  for (const [status, body] of cases) {
    const url = await answeringWith(t, status, body, { location: "/login" });
    const done = await probe(t, ["--raw", `${url}/any/path?x=1`]);
    assert.equal(done.code, 0, String(status));
    assert.equal(done.stdout, `${JSON.stringify({ status, body })}\n`);
    assert.equal(done.stderr, "");
  }
  const gone = await refusing();
  const refused = await probe(t, ["--raw", `${gone}/x?token=secret`]);
  assert.deepEqual([refused.code, refused.stdout], [69, ""]);
  assert.equal(refused.stderr, `hermes: No answer from ${gone}/x: ECONNREFUSED.\n`);
  const hanging = await connecting(t, () => undefined);
  const late = await probe(t, ["--raw", hanging, "--timeout", "1", "--json"]);
  assert.equal(late.code, 69);
  const { error } = JSON.parse(late.stdout) as { error: { code: string; message: string } };
  assert.deepEqual(
    [error.code, error.message],
    ["NO_ANSWER", `No answer from ${hanging}/: timeout.`],
  );
});

test("--raw asks exactly that address with the headers given; --json adds the schema", async (t) => {
  const url = await answering(t, ({ url: path, headers }, response) =>
    response.end(`${path} ${headers.host} ${headers["user-agent"]}`),
  );
  const words = ["--raw", `${url}/a/?b=%2F`, "--header", "Host:a.example.org", "--json"];
  const done = await probe(t, words);
  assert.deepEqual(JSON.parse(done.stdout), {
    schema: 1,
    status: 200,
    body: "/a/?b=%2F a.example.org hermes-probe",
  });
});

test("a real dashboard is running; under a name it does not know it is gated", async (t) => {
  const dashboard = await openDashboard(t);
  const known = await probe(t, [dashboard.url, "--json"]);
  assert.equal(known.code, 0);
  const [found] = resultsOf(known);
  assert.deepEqual([found?.state, found?.version], ["running", "0.0.1-test"]);
  assert.equal(found?.auth_required, false);
  const unknown = await probe(t, [dashboard.url, "--header", "Host: evil.test", "--json"]);
  assert.equal(unknown.code, 0);
  const [refused] = resultsOf(unknown);
  assert.deepEqual([refused?.state, refused?.code], ["gated", 400]);
  const locked = await probe(t, ["--raw", `${dashboard.url}/api/sessions`]);
  assert.equal((JSON.parse(locked.stdout) as { status: number }).status, 401);
});

test("works without a home and with a broken configuration, and writes nothing", async (t) => {
  const url = await answeringWith(t, 200, OUR_STATUS);
  const home = join(tempDir(t), "missing");
  assert.equal((await runCli(["probe", url], { home, cwd: "/" })).code, 0);
  assert.ok(!existsSync(home));
  const broken = tempDir(t);
  writeFileSync(join(broken, "config.yaml"), "a: [");
  assert.equal((await runCli(["probe", url], { home: broken })).code, 0);
});

for (const [words, sentence] of [
  ["", /needs URL/],
  ["h.example", /h\.example is not an http:\/\/ or https:\/\/ address/],
  ["http://h --expect 99", /--expect CODE/],
  ["--raw http://h http://i", /--raw asks one address/],
] as const) {
  test(`hermes probe ${words}: 64, nothing asked`, async (t) => {
    const done = await probe(t, words.split(" ").filter(Boolean));
    assert.deepEqual([done.code, done.stdout], [64, ""]);
    assert.match(done.stderr, sentence);
  });
}
