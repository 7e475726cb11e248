// A dashboard that is killed around a refresh (dashboard.md §14 row 34): the portal's refresh tokens rotate and a used one ends
// the chain, so what it answered must be on disk before anybody goes on. No browser: a program with its cookies.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Gate, portalForGate, signInAtIssuer, startGate } from "../kit/gate.ts";
import { ask } from "../kit/http.ts";
import type { Issuer } from "../kit/oidc-issuer.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const OPTIONS = { timeout: 120_000 };

interface Visit {
  readonly portal: Issuer;
  readonly gate: Gate;
  readonly cookie: string;
  /** The same home, a new process. */
  restart(): Promise<Gate>;
}

/** Every access token of the portal is over when it comes, within the leeway: each request needs a refresh. */
function endsAtOnce(): { readonly payload: { readonly exp: number } } {
  return { payload: { exp: Math.floor(Date.now() / 1000) - 5 } };
}

async function openSignedIn(t: TestContext): Promise<Visit> {
  const { issuer: portal, env } = await portalForGate(t);
  const home = tempDir(t, "hermes-home");
  const webDist = tempDir(t, "hermes-web");
  const start = (): Promise<Gate> => startGate(t, { webDist, home, env });
  const gate = await start();
  portal.state.forgery = endsAtOnce();
  const cookie = await signInAtIssuer(gate, "nous");
  return { portal, gate, cookie, restart: start };
}

const me = (gate: Gate, cookie: string) => ask(`${gate.url}/api/auth/me`, { headers: { cookie } });

/** The one record of the home. */
function record({ home }: Gate): string {
  const folder = join(home, "dashboard", "sessions");
  const [name = ""] = readdirSync(folder).filter((entry) => /^[0-9a-f]{64}$/u.test(entry));
  return readFileSync(join(folder, name), "utf8");
}

test(
  "killed as soon as the portal's answer is on disk, before anybody used it: still in",
  OPTIONS,
  async (t) => {
    const { portal, gate, cookie, restart } = await openSignedIn(t);
    const { calls } = portal.faults;
    const before = record(gate);
    assert.equal(calls.token, 1);
    const hold = portal.faults.hold("token");
    const asked = Array.from({ length: 20 }, () => me(gate, cookie));
    const outcomes = Promise.allSettled(asked);
    await until("the portal is asked", () => hold.waiting() === 1);
    portal.state.forgery = endsAtOnce();
    hold.release();
    await until("the new token is on disk", () => record(gate) !== before);
    gate.run.child.kill("SIGKILL");
    await gate.run.ended;
    await outcomes;
    const spent = calls.token;

    const again = await restart();
    assert.equal((await me(again, cookie)).status, 200);
    assert.equal(calls.token, spent + 1, "the restarted process asked with what was kept");
    assert.deepEqual(portal.errors, []);
  },
);

test("killed while the portal is asked and never answers: still in", OPTIONS, async (t) => {
  const { portal, gate, cookie, restart } = await openSignedIn(t);
  portal.faults.set("token", { kind: "hang" });
  const asked = Promise.allSettled([me(gate, cookie)]);
  await until("the portal is asked", () => portal.faults.calls.token === 2);
  gate.run.child.kill("SIGKILL");
  await gate.run.ended;
  await asked;
  portal.faults.set("token", null);
  const again = await restart();
  assert.equal((await me(again, cookie)).status, 200);
});

test("stopped politely while the portal is asked: what it answers is kept", OPTIONS, async (t) => {
  const { portal, gate, cookie, restart } = await openSignedIn(t);
  const before = record(gate);
  const hold = portal.faults.hold("token");
  const asked = Promise.allSettled([me(gate, cookie)]);
  await until("the portal is asked", () => hold.waiting() === 1);
  gate.run.child.kill("SIGTERM");
  await until("it stops", async () => {
    const refused = await me(gate, cookie).catch(() => null);
    return refused === null;
  });
  hold.release();
  await gate.run.ended;
  await asked;
  assert.notEqual(record(gate), before);
  const again = await restart();
  assert.equal((await me(again, cookie)).status, 200);
});
