import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { systemRandom } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { Tokens } from "../providers/provider.ts";
import { Secret } from "../providers/secret.ts";
import { digestOfId, type NewSession, openSessionRecords } from "./records.ts";
import { openSessionFolder, sessionsFolder, type SessionFolder } from "./session-folder.ts";
import { openSessionKey, rotateSessionKey, sessionKeyPath } from "./session-key.ts";

const TOKENS: Tokens = {
  access: new Secret("access-token-text"),
  refresh: new Secret("refresh-token-text"),
  idToken: new Secret("id-token-text"),
  accessExpiresAt: 2_000_000_000,
};

function login(changes: Partial<NewSession> = {}): NewSession {
  return {
    kind: "browser",
    provider: "stub",
    epoch: "e1",
    identity: { userId: "u1", email: "u1@example.test", displayName: "U", orgId: "" },
    cookieName: "hermes_session_at",
    authTime: 1_768_478_400,
    userAgent: "ua",
    ip: "192.0.2.1",
    native: null,
    absoluteSeconds: 3600,
    idleSeconds: 600,
    ...changes,
  };
}

function bench(t: TestContext, home = tempDir(t), clock = new FakeClock()) {
  const warnings: string[] = [];
  const write = (message: string): void => void warnings.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const open = (secret: string | null = null, folder?: SessionFolder) => {
    const records = openSessionRecords({
      folder: folder ?? openSessionFolder(sessionsFolder(home)),
      key: openSessionKey(home, secret, systemRandom),
      clock,
      random: systemRandom,
      log,
    });
    t.after(() => records.close());
    return records;
  };
  const path = (digest: string): string => join(sessionsFolder(home), digest);
  return { home, clock, warnings, open, path };
}

test("a session survives a restart with its tokens; the folder shows no token and no id", (t) => {
  const { open, home, path } = bench(t);
  const first = open();
  const { id, session } = first.create(login(), TOKENS);
  first.close();
  const text = readFileSync(path(session.digest), "utf8");
  for (const secret of ["access-token", "refresh-token", "id-token", id]) {
    assert.ok(!text.includes(secret), secret);
  }
  assert.equal(statSync(path(session.digest)).mode & 0o777, 0o600);
  assert.equal(statSync(sessionsFolder(home)).mode & 0o777, 0o700);
  assert.equal(statSync(sessionKeyPath(home)).mode & 0o777, 0o600);
  const again = open();
  assert.deepEqual(again.find(id), session);
  assert.equal(again.tokensOf(id)?.refresh?.reveal(), "refresh-token-text");
  assert.equal(again.tokensOf("x".repeat(43)), null);
  assert.equal(again.find("garbage"), null);
  assert.equal(again.find("x".repeat(43)), null);
});

test("edited, copied and foreign files are removed with one warning", (t) => {
  const { open, home, path, warnings } = bench(t);
  const records = open();
  const [a, b] = [records.create(login(), null), records.create(login(), TOKENS)];
  records.close();
  const edited = readFileSync(path(a.session.digest), "utf8").replace('"u1"', '"u2"');
  writeFileSync(path(a.session.digest), edited);
  copyFileSync(path(b.session.digest), path("0".repeat(64)));
  writeFileSync(path("1".repeat(64)), "{}");
  const again = open();
  assert.equal(again.find(a.id), null);
  assert.ok(again.find(b.id));
  assert.deepEqual(readdirSync(sessionsFolder(home)), [b.session.digest]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /3 invalid records removed/);
});

test("another secret ends every session; so does a new key file, in a second, while it runs", async (t) => {
  const { open, home, clock } = bench(t);
  const first = open();
  const { id } = first.create(login(), null);
  first.close();
  assert.equal(open("a secret of sixteen bytes").find(id), null);
  const records = open();
  const { id: other } = records.create(login(), null);
  const ended: string[] = [];
  records.onEnd((session, why) => void ended.push(`${session.identity.userId} ${why}`));
  rotateSessionKey(home, systemRandom);
  await clock.advance(1000);
  assert.equal(records.find(other), null);
  assert.deepEqual(ended, ["u1 revoked"]);
  const { id: next } = records.create(login(), null);
  records.close();
  assert.ok(open().find(next));
});

test("a removed or edited file takes effect within 2 s, and at once where the record is read again", async (t) => {
  const { open, path, clock } = bench(t);
  const records = open();
  const [a, b, c] = [1, 2, 3].map(() => records.create(login(), null));
  assert.ok(a && b && c);
  const ended: string[] = [];
  records.onEnd(({ digest }, why) => void ended.push(`${digest} ${why}`));
  rmSync(path(a.session.digest));
  assert.ok(records.find(a.id));
  assert.equal(records.recheck(a.id), null);
  rmSync(path(b.session.digest));
  writeFileSync(path(c.session.digest), "{}");
  await clock.advance(1000);
  assert.deepEqual([records.find(b.id), records.find(c.id)], [null, null]);
  assert.deepEqual(
    ended.sort(),
    [a, b, c].map(({ session }) => `${session.digest} revoked`).sort(),
  );
});

test("times: idle end moves with use, absolute end does not; both are exact", async (t) => {
  const { open, clock } = bench(t);
  const records = open();
  const { id, session } = records.create(login(), null);
  await clock.advance(599_999);
  records.touch(session);
  assert.ok(records.find(id));
  for (let n = 0; n < 5; n++) {
    await clock.advance(590_000);
    const found = records.find(id);
    assert.ok(found, String(n));
    records.touch(found);
  }
  await clock.advance(3600_000 - 599_999 - 5 * 590_000 - 1);
  assert.ok(records.find(id));
  await clock.advance(1);
  assert.equal(records.find(id), null);
});

test("an unused session ends at its idle time and its file goes", async (t) => {
  const { open, clock, home } = bench(t);
  const records = open();
  const { id } = records.create(login(), null);
  await clock.advance(600_000);
  assert.equal(records.find(id), null);
  assert.deepEqual(readdirSync(sessionsFolder(home)), []);
});

test("the last use is on disk within a minute and a second, and at the end", async (t) => {
  const { open, clock, path } = bench(t);
  const records = open();
  const { session } = records.create(login(), null);
  const seenOnDisk = (): unknown =>
    (JSON.parse(readFileSync(path(session.digest), "utf8")) as { last_seen: number }).last_seen;
  await clock.advance(30_000);
  records.touch(session);
  await clock.advance(2_000);
  assert.equal(seenOnDisk(), session.createdAt);
  await clock.advance(40_000);
  records.touch(session);
  await clock.advance(1_000);
  assert.equal(seenOnDisk(), session.createdAt + 72);
  await clock.advance(5_000);
  records.touch(session);
  records.close();
  assert.equal(seenOnDisk(), session.createdAt + 78);
});

/** A thousand synced writes would take the test ten seconds. */
function folderInMemory(): SessionFolder {
  const texts = new Map<string, string>();
  return {
    names: () => [...texts.keys()],
    read(name) {
      const text = texts.get(name);
      return text === undefined ? { state: "missing" } : { state: "text", text, stamp: text };
    },
    write: (name, text) => (texts.set(name, text), text),
    remove: (name) => void texts.delete(name),
    stamp: (name) => texts.get(name) ?? "",
    folderStamp: () => String(texts.size),
  };
}

test("at most 1,000, and 50 per user; the least recently used go first", async (t) => {
  const { open, clock } = bench(t);
  const records = open(null, folderInMemory());
  const user = (n: number) => ({
    identity: { userId: `u${n}`, email: "", displayName: "", orgId: "" },
  });
  const first = records.create(login(user(0)), null);
  await clock.advance(1000);
  const second = records.create(login(user(0)), null);
  await clock.advance(1000);
  records.touch(first.session);
  for (let n = 0; n < 49; n++) records.create(login(user(0)), null);
  assert.equal(records.list().length, 50);
  assert.equal(records.find(second.id), null);
  assert.ok(records.find(first.id));
  for (let n = 0; n < 951; n++) records.create(login(user(n + 1)), null);
  assert.equal(records.list().length, 1000);
});

test("new tokens are on disk when the call returns; an ended session takes none", (t) => {
  const { open } = bench(t);
  const records = open();
  const { id, session } = records.create(login(), TOKENS);
  const next = { ...TOKENS, refresh: new Secret("second"), accessExpiresAt: 2_000_000_100.5 };
  assert.equal(records.replaceTokens(id, next)?.accessExpiresAt, 2_000_000_100);
  const again = open();
  assert.equal(again.tokensOf(id)?.refresh?.reveal(), "second");
  records.end(session.digest, "logout");
  assert.equal(records.replaceTokens(id, next), null);
  assert.equal(records.end(session.digest, "logout"), null);
  assert.equal(session.digest, digestOfId(id));
});
