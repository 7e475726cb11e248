// Profiles over the API of a real dashboard (dashboard.md §11.6, agent.md §8): what is on the disk decides.
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runCli, startCli } from "../kit/cli.ts";
import { writeWebDist } from "../kit/dashboard.ts";
import { ask } from "../kit/http.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";
import { startWebServer } from "../kit/web-server.ts";

const OPTIONS = { timeout: 120_000 };

async function setUp(t: TestContext) {
  const home = tempDir(t);
  const server = await startWebServer(t, { home, webDist: writeWebDist(tempDir(t)), demo: true });
  const page = (await ask(`${server.url}/`)).body;
  const token = /__HERMES_SESSION_TOKEN__\s*=\s*"([^"]+)"/u.exec(page)?.[1] ?? "";
  const call = (method: string, path: string, body?: object) =>
    ask(`${server.url}${path}`, {
      method,
      headers: { "x-hermes-session-token": token },
      ...(body === undefined ? {} : { body }),
    });
  const names = async (): Promise<readonly string[]> => {
    const { profiles } = (await call("GET", "/api/profiles")).json<{
      profiles: readonly { name: string }[];
    }>();
    return profiles.map(({ name }) => name);
  };
  return { home, server, call, names, folder: (name: string) => join(home, "profiles", name) };
}

test(
  "made, described, renamed, made active, deleted; its open conversations go along",
  OPTIONS,
  async (t) => {
    const { home, call, names, folder } = await setUp(t);
    assert.equal((await call("POST", "/api/profiles", { name: "one" })).status, 201);
    // Opens the store of that profile in the dashboard.
    assert.equal((await call("GET", "/api/sessions?profile=one")).status, 200);
    const renamed = await call("PATCH", "/api/profiles/one", {
      new_name: "two",
      description: "Of two",
    });
    assert.deepEqual(
      [renamed.status, renamed.json()["ok"], renamed.json()["name"]],
      [200, true, "two"],
    );
    assert.deepEqual(await names(), ["default", "two"]);
    assert.equal(existsSync(folder("one")), false);
    assert.match(readFileSync(join(folder("two"), "profile.yaml"), "utf8"), /Of two/u);
    assert.equal((await call("GET", "/api/sessions?profile=two")).status, 200);
    assert.equal((await call("GET", "/api/sessions?profile=one")).status, 404);
    assert.equal((await call("POST", "/api/profiles/active", { name: "two" })).status, 200);
    assert.equal(readFileSync(join(home, "active_profile"), "utf8"), "two\n");
    assert.equal((await call("DELETE", "/api/profiles/two")).status, 200);
    assert.deepEqual(await names(), ["default"]);
    assert.deepEqual(readdirSync(join(home, "profiles")), []);
    assert.equal(existsSync(join(home, "active_profile")), false);
    assert.equal((await call("GET", "/api/status")).json()["profile"] ?? "default", "default");
  },
);

test("the persona: read, written whole, not through other names", OPTIONS, async (t) => {
  const { home, call } = await setUp(t);
  await call("POST", "/api/profiles", { name: "one" });
  const text = "I am one.\nÄ\n";
  assert.equal((await call("PUT", "/api/profiles/one/soul", { content: text })).status, 200);
  assert.equal(readFileSync(join(home, "profiles", "one", "SOUL.md"), "utf8"), text);
  assert.deepEqual((await call("GET", "/api/profiles/one/soul")).json(), { content: text });
  for (const name of ["nosuch", "..", "%2e%2e", "..%2f..%2fetc"]) {
    const answer = await call("GET", `/api/profiles/${name}/soul`);
    assert.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`);
  }
  const huge = { content: "x".repeat(300_000) };
  assert.equal((await call("PUT", "/api/profiles/one/soul", huge)).status, 422);
  assert.equal(readFileSync(join(home, "profiles", "one", "SOUL.md"), "utf8"), text);
  assert.deepEqual((await call("GET", "/api/profiles/one/setup-command")).json(), {
    command: "hermes -p one setup",
  });
});

test("what is refused, and changes nothing", OPTIONS, async (t) => {
  const { home, call, names } = await setUp(t);
  await call("POST", "/api/profiles", { name: "one" });
  await call("POST", "/api/profiles", { name: "other" });
  writeFileSync(join(home, "profiles", "file"), "");
  mkdirSync(join(home, "outside"));
  symlinkSync(join(home, "outside"), join(home, "profiles", "linked"));
  const before = await names();
  const bad = [
    "",
    "..",
    "../x",
    "a/b",
    "with space",
    "-x",
    "_x",
    "ä",
    "a".repeat(65),
    "a\u0000",
    "default",
    "hermes",
  ];
  for (const name of bad) {
    const made = await call("POST", "/api/profiles", { name });
    assert.ok(
      [400, 409, 422].includes(made.status),
      `create ${JSON.stringify(name)}: ${made.status}`,
    );
    const renamed = await call("PATCH", "/api/profiles/one", { new_name: name });
    assert.ok(
      [400, 409, 422].includes(renamed.status),
      `rename ${JSON.stringify(name)}: ${renamed.status}`,
    );
  }
  const expected: readonly [string, string, object | undefined, number][] = [
    ["PATCH", "/api/profiles/one", { new_name: "other" }, 409],
    ["PATCH", "/api/profiles/default", { new_name: "other2" }, 409],
    ["PATCH", "/api/profiles/nosuch", { new_name: "other2" }, 404],
    ["DELETE", "/api/profiles/default", undefined, 409],
    ["DELETE", "/api/profiles/nosuch", undefined, 404],
    ["DELETE", "/api/profiles/file", undefined, 404],
    ["POST", "/api/profiles/active", { name: "nosuch" }, 404],
    ["POST", "/api/profiles/nosuch/register", {}, 404],
  ];
  for (const [method, path, body, status] of expected) {
    assert.equal((await call(method, path, body)).status, status, `${method} ${path}`);
  }
  assert.deepEqual(await names(), before);
  assert.ok(existsSync(join(home, "outside")));
});

test("a gateway that runs: no other name; a delete stops it first", OPTIONS, async (t) => {
  const { home, call, folder } = await setUp(t);
  await call("POST", "/api/profiles", { name: "busy" });
  const gateway = startCli(["-p", "busy", "gateway", "run"], {
    home,
    env: { HERMES_ALLOW_ROOT_GATEWAY: "1" },
  });
  t.after(() => gateway.child.kill("SIGKILL"));
  const state = join(folder("busy"), "gateway_state.json");
  await until(
    "it runs",
    () => existsSync(state) && /"gateway_state": ?"running"/u.test(readFileSync(state, "utf8")),
  );
  const renamed = await call("PATCH", "/api/profiles/busy", { new_name: "calm" });
  assert.equal(renamed.status, 409, renamed.body);
  const deleted = await call("DELETE", "/api/profiles/busy");
  assert.equal(deleted.status, 200, deleted.body);
  assert.equal(existsSync(folder("busy")), false);
  assert.equal((await gateway.ended).code, 0, "it was stopped, not killed");
});

test("a refused rename ends no conversation and writes no description", OPTIONS, async (t) => {
  const { call, folder } = await setUp(t);
  await call("POST", "/api/profiles", { name: "one", clone_from: "default" });
  await call("POST", "/api/profiles", { name: "other" });
  const begun = (await call("POST", "/api/chat/sessions?profile=one", {})).json();
  const id = String(begun["session_id"]);
  const said = { text: "slow 20", client_message_id: "00000000-0000-4000-8000-000000000001" };
  const sent = await call("POST", `/api/chat/sessions/${id}/messages?profile=one`, said);
  assert.ok(sent.status < 300, sent.body);
  for (const name of ["other", "../x"]) {
    const refused = await call("PATCH", "/api/profiles/one", { new_name: name, description: "No" });
    assert.ok(refused.status >= 400, refused.body);
  }
  assert.equal(existsSync(join(folder("one"), "profile.yaml")), false);
  const stopped = await call("POST", `/api/chat/sessions/${id}/stop?profile=one`);
  assert.equal(stopped.status, 200, `the turn still ran: ${stopped.body}`);
});

test("the command line and the API see the same", OPTIONS, async (t) => {
  const { home, call, names } = await setUp(t);
  assert.equal((await runCli(["profile", "create", "cli", "--no-alias"], { home })).code, 0);
  assert.deepEqual(await names(), ["default", "cli"]);
  assert.equal((await call("DELETE", "/api/profiles/cli")).status, 200);
  assert.equal((await runCli(["profile", "show", "cli"], { home })).code, 66);
});
