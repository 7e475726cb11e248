// The decision table where no route of the server has the class yet: T, and bearers of programs (dashboard.md §4.1).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { systemRandom } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { createStubProvider, offerStub } from "../../test/kit/stub-provider.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { AccessRule, Caller, GateRequest } from "./access.ts";
import { offerDrain } from "./providers/drain.ts";
import { createRegistry } from "./providers/registry.ts";
import { Secret } from "./providers/secret.ts";
import { createRefresher } from "./refresher.ts";
import { createSessionGate } from "./session-gate.ts";
import { openSessionRecords } from "./sessions/records.ts";
import { openSessionFolder, sessionsFolder } from "./sessions/session-folder.ts";
import { openSessionKey } from "./sessions/session-key.ts";

const DRAIN = "kX9-vT2qLw7ZrB4mNc8PdF1sHj6YgU3eAo5iKtRxWnQ";
const rule = (changes: Partial<AccessRule> = {}): AccessRule => ({
  class: "T",
  scope: "gateway:drain",
  orSession: false,
  ...changes,
});

function bench(t: TestContext) {
  const home = tempDir(t);
  const clock = new FakeClock();
  const events: string[] = [];
  const audit = { write: (event: string): void => void events.push(event) };
  const stub = createStubProvider({ clock });
  const providers = createRegistry([offerStub(stub), offerDrain(new Secret(DRAIN))], silentLog);
  const records = openSessionRecords({
    folder: openSessionFolder(sessionsFolder(home)),
    key: openSessionKey(home, null, systemRandom),
    clock,
    random: systemRandom,
    log: silentLog,
  });
  t.after(() => records.close());
  const refresher = createRefresher({ records, providers, clock, audit, log: silentLog });
  const settings = { autoSso: true, csp: { img: [], font: [], style: [] } };
  const gate = createSessionGate({
    records,
    refresher,
    providers,
    native: null,
    clock,
    audit,
    settings,
    theme: () => "default",
  });
  const { id } = records.create(
    {
      kind: "browser",
      provider: "stub",
      epoch: stub.epoch,
      identity: { userId: "u", email: "", displayName: "", orgId: "" },
      cookieName: "hermes_session_at",
      authTime: clock.now() / 1000,
      userAgent: "",
      ip: "",
      native: null,
      absoluteSeconds: 3600,
      idleSeconds: 3600,
    },
    null,
  );
  const ask = async (asked: AccessRule, headers: Record<string, string>) => {
    const request: GateRequest = {
      method: "GET",
      path: "/api/x",
      query: "",
      headers,
      client: "192.0.2.1",
      https: false,
      host: "h",
      prefix: "",
    };
    const caller: Caller = await gate.identify(asked, request, null);
    return { caller, status: gate.refuse(asked, caller, request)?.status ?? 200 };
  };
  return { ask, events, cookie: { cookie: `hermes_session_at=${id}` } };
}

test("scoped routes: the right bearer only, a session where it will do", async (t) => {
  const { ask, cookie, events } = bench(t);
  const bearer = { authorization: `bearer ${DRAIN}` };
  const cases: [AccessRule, Record<string, string>, number][] = [
    [rule(), {}, 401],
    [rule(), { cookie: "hermes_session_at=garbage" }, 401],
    [rule(), { authorization: "Bearer nonsense" }, 401],
    [rule(), bearer, 200],
    [rule({ scope: "metrics:read" }), bearer, 403],
    [rule(), cookie, 403],
    [rule({ orSession: true }), cookie, 200],
    [rule(), { ...bearer, ...cookie }, 403],
  ];
  for (const [asked, headers, expected] of cases) {
    assert.equal((await ask(asked, headers)).status, expected, JSON.stringify([asked, headers]));
  }
  assert.ok(events.includes("token_auth_success"));
});

test("a program's bearer opens no session route", async (t) => {
  const { ask } = bench(t);
  const bearer = { authorization: `Bearer ${DRAIN}` };
  for (const letter of ["S", "R", "N"] as const) {
    assert.equal((await ask({ class: letter }, bearer)).status, 403, letter);
  }
  for (const letter of ["P", "B"] as const) {
    const { caller, status } = await ask({ class: letter }, bearer);
    assert.deepEqual([caller.kind, status], ["stranger", 200]);
  }
});

test("several cookies of the name: each is tried, at most 8; another name is dead", async (t) => {
  const { ask, cookie } = bench(t);
  const own = cookie.cookie;
  const garbage = (count: number) =>
    Array.from({ length: count }, (_, n) => `hermes_session_at=g${n}`).join("; ");
  const statusOf = async (header: string) => (await ask({ class: "S" }, { cookie: header })).status;
  assert.equal(await statusOf(`${garbage(7)}; ${own}`), 200);
  assert.equal(await statusOf(`${garbage(8)}; ${own}`), 401);
  assert.equal(await statusOf(own.replace("hermes_", "__Host-hermes_")), 401);
  assert.equal(await statusOf(`${own}x`), 401);
  assert.equal(await statusOf(`hermes_session_at=${"x".repeat(8000)}`), 401);
});
