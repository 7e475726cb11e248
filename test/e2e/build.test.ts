// What `npm ci` builds is what runs: a fresh bundle in a directory of its own, with nothing of the sources beside it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { environment, PROJECT } from "../kit/cli.ts";
import { text } from "../kit/model-reply.ts";
import { startModelServer } from "../kit/model-server.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const project = mkdtempSync(join(tmpdir(), "hermes-build-"));
process.on("exit", () => rmSync(project, { recursive: true, force: true }));

before(() => {
  mkdirSync(join(project, "bin"));
  copyFileSync(join(PROJECT, "bin", "hermes.mjs"), join(project, "bin", "hermes.mjs"));
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  const script = join(PROJECT, "scripts", "build.ts");
  const said = execFileSync(
    process.execPath,
    [script, "--out", join(project, "dist"), "--no-web"],
    { encoding: "utf8" },
  );
  assert.equal(said.trimEnd().split("\n").length, 1, "one line");
});

/** Not execFileSync: the servers of a test live in this process. */
async function run(words: readonly string[], home: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(project, "bin", "hermes.mjs"), ...words], {
    cwd: home,
    env: environment({ home, env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (stdout += part));
  child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

test("version and help come from the built tables, without a word on stderr", async (t) => {
  const home = tempDir(t);
  const version = await run(["--version"], home);
  assert.deepEqual([version.code, version.stderr], [0, ""]);
  assert.match(version.stdout, /^hermes \d+\.\d+\.\d+ \(/);
  assert.match((await run(["help", "chat"], home)).stdout, /^Usage: hermes chat/);
  assert.equal((await run(["nonsense"], home)).code, 64);
});

test("each command's chunk loads", async (t) => {
  const home = tempDir(t);
  const cases: readonly (readonly [words: string, code: number])[] = [
    ["model --demo", 0],
    ["status", 0],
    ["doctor --fix", 0],
    ["config show", 0],
    ["config check", 0],
    ["config migrate --dry-run", 0],
    ["profile create work", 0],
    ["chat -q hello", 0],
    ["chat --list-tools", 0],
    ["sessions list", 0],
    ["logs", 0],
    ["memory show", 0],
    ["dump", 0],
    ["update", 0],
    ["setup", 64],
    ["dashboard --status", 1],
  ];
  for (const [words, code] of cases) {
    const result = await run(words.split(" "), home);
    assert.equal(result.code, code, `${words}: ${result.stderr}`);
    assert.doesNotMatch(result.stderr, /Warning|at file:/, words);
  }
});

test("the model SDK and the web tools work from the bundle", async (t) => {
  const home = tempDir(t);
  const server = await startModelServer(t, [{ reply: text("From afar.") }]);
  writeFileSync(
    join(home, "config.yaml"),
    `model: { provider: custom, default: m, base_url: "${server.baseUrl}" }\nsecurity: { allow_private_urls: true }\n`,
  );
  assert.equal((await run(["chat", "-q", "hi"], home)).stdout, "From afar.\n");
  const page = await servePage(t);
  const fetched = await run(
    ["--provider", "demo", "chat", "-q", `fetch ${page}`, "--format", "stream-json"],
    home,
  );
  assert.equal(fetched.code, 0, fetched.stderr);
  assert.match(fetched.stdout, /"type":"tool-end"[^\n]*"ok":true/);
});

async function servePage(t: TestContext): Promise<string> {
  const body = `<title>T</title><article><h1>Head</h1><p>${"Words of the page. ".repeat(40)}</p></article>`;
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("what every start reads is small, and schema code is not the model SDK's", () => {
  const dist = join(project, "dist");
  assert.ok(readFileSync(join(dist, "main.js")).length < 16_000);
  const chunks = readdirSync(join(dist, "chunks"));
  const sdk = chunks.filter((name) =>
    readFileSync(join(dist, "chunks", name), "utf8").includes("AI_SDK_LOG_WARNINGS"),
  );
  assert.ok(sdk.length > 0);
  for (const name of ["version.json", "help.json", "config-defaults.json", "config-schema.json"]) {
    assert.ok(existsSync(join(dist, name)), name);
    JSON.parse(readFileSync(join(dist, name), "utf8"));
  }
});

test("a command that only reads the configuration loads neither SDK, server nor HTML parser", async (t) => {
  const home = tempDir(t);
  const loaded = await run(["config", "get", "agent.max_turns"], home, { NODE_DEBUG: "esm" });
  assert.equal(loaded.stdout, "90\n");
  const dist = join(project, "dist", "chunks");
  const names = new Set(
    [...loaded.stderr.matchAll(/chunks\/([\w.-]+\.js)/g)].map((match) => match[1] ?? ""),
  );
  for (const name of names) {
    const code = readFileSync(join(dist, name), "utf8");
    for (const mark of ["AI_SDK_LOG_WARNINGS", "createServer", "parseHTML"]) {
      assert.ok(!code.includes(mark), `${name} holds ${mark}`);
    }
  }
});

test("a service's start reads one file of the bundle; what it needs later is found from there", async (t) => {
  for (const [pack, words, mark] of [
    ["dashboard", "dashboard --no-open --port 0", /Hermes Web UI → (\S+)/],
    ["gateway", "gateway run --no-supervise", /gateway default: running/],
  ] as const) {
    const service = startService(t, words);
    const [, url] = await until(words, () => mark.exec(service.said()), 60_000);
    assert.deepEqual(packsRead(service.said()), [`${pack}.cjs`], words);
    // The page goes through the router's adapter, which is a chunk of its own; this build has no browser app.
    if (url !== undefined) assert.equal((await fetch(url)).status, 503);
    service.child.kill("SIGTERM");
    assert.deepEqual(await once(service.child, "close"), [0, null], words);
    if (url !== undefined) assert.ok(packsRead(service.said()).length > 1);
  }
  const setup = await run(["container", "prepare"], tempDir(t), { NODE_DEBUG: "module" });
  assert.equal(setup.code, 64);
  assert.match(setup.stderr, /Setup is run by the image's \/init/);
  assert.deepEqual(packsRead(setup.stderr), ["setup.cjs"]);
  const status = await run(["status"], tempDir(t), { NODE_DEBUG: "module" });
  assert.deepEqual([status.code, packsRead(status.stderr)], [0, ["status.cjs"]]);
  assert.match(status.stdout, /^gateway default +stopped$/mu);
  const probe = await run(["probe", "--self"], tempDir(t), { NODE_DEBUG: "module" });
  assert.deepEqual([probe.code, packsRead(probe.stderr)], [0, ["probe.cjs"]]);
});

/** The files under dist/packs that Node says it loaded (NODE_DEBUG=module). */
function packsRead(said: string): readonly string[] {
  const names = [...said.matchAll(/: load "[^"]+packs\/([\w.-]+)" for/g)].map(([, name]) => name);
  return [...new Set(names)].map(String);
}

function startService(t: TestContext, words: string) {
  const home = tempDir(t);
  const env = { NODE_DEBUG: "module", HERMES_ALLOW_ROOT_GATEWAY: "1" };
  const argv = [join(project, "bin", "hermes.mjs"), ...words.split(" ")];
  const child = spawn(process.execPath, argv, {
    cwd: home,
    env: environment({ home, env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (part: string) => (said += part));
  }
  return { child, said: () => said };
}
