import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "#base/log.ts";
import { systemRandom } from "#base/ids.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { createAudit } from "./audit.ts";
import { createLimiter } from "./limiter.ts";
import { createLocalToken } from "./local-token.ts";
import { createWsTickets } from "./ws-tickets.ts";

test("a limiter lets through up to its limit in a sliding window, per key", async () => {
  const clock = new FakeClock();
  const limiter = createLimiter({ most: 2, windowMs: 10_000 }, clock);
  assert.deepEqual([limiter.hit("a"), limiter.hit("a")], [null, null]);
  assert.equal(limiter.hit("a"), 10);
  assert.equal(limiter.hit("b"), null);
  await clock.advance(9_000);
  assert.equal(limiter.hit("a"), 1);
  await clock.advance(1_000);
  assert.equal(limiter.hit("a"), null);
});

test("a ticket works once, until its expiry and not after", async () => {
  const clock = new FakeClock();
  const tickets = createWsTickets(clock, systemRandom);
  const mint = (): string => tickets.mint("me") ?? assert.fail("no ticket");
  const first = mint();
  assert.match(first, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(tickets.use(first), { ok: true, owner: "me" });
  assert.deepEqual(tickets.use(first), { ok: false, reason: "unknown" });
  const [exact, late] = [mint(), mint()];
  await clock.advance(30_000);
  assert.equal(tickets.use(exact).ok, true);
  await clock.advance(1);
  assert.deepEqual(tickets.use(late), { ok: false, reason: "expired" });
  assert.deepEqual(tickets.use(late), { ok: false, reason: "unknown" });
});

test("at most 64 tickets are outstanding per owner", () => {
  const tickets = createWsTickets(new FakeClock(), systemRandom);
  for (let n = 0; n < 64; n++) assert.notEqual(tickets.mint("me"), null);
  assert.equal(tickets.mint("me"), null);
  assert.notEqual(tickets.mint("other"), null);
});

test("the local token is random unless pinned, and compared whole", () => {
  const token = createLocalToken(null, systemRandom);
  assert.match(token.value, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(token.matches(token.value));
  for (const wrong of ["", token.value.slice(1), `${token.value}x`, token.value.toUpperCase()]) {
    assert.ok(!token.matches(wrong));
  }
  assert.equal(createLocalToken("pinned-token-0123", systemRandom).value, "pinned-token-0123");
});

test("the audit drops credentials at any depth, is 0600 and rotates", (t) => {
  const path = join(tempDir(t), "logs", "dashboard-auth.log");
  const options = { path, maxBytes: 200, backups: 2, clock: new FakeClock(), log: silentLog };
  const audit = createAudit(options);
  audit.write("ws_ticket_rejected", {
    ip: "1.2.3.4",
    ticket: "T1",
    deep: { Password: "P1", ok: 1 },
  });
  const line = readFileSync(path, "utf8");
  assert.deepEqual(JSON.parse(line), {
    ts: "2026-01-15T12:00:00.000Z",
    event: "ws_ticket_rejected",
    ip: "1.2.3.4",
    deep: { ok: 1 },
  });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  for (let n = 0; n < 12; n++) audit.write("rate_limited", { n });
  assert.ok(statSync(`${path}.1`).size > 0 && statSync(`${path}.2`).size > 0);
  assert.equal(statSync(`${path}.3`, { throwIfNoEntry: false }), undefined);
});

test("an audit that cannot be written warns once and never throws", (t) => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const path = join(tempDir(t), "file-in-the-way");
  createAudit({ path, maxBytes: 1e6, backups: 1, clock: new FakeClock(), log }).write(
    "rate_limited",
    {},
  );
  const below = createAudit({
    path: join(path, "x.log"),
    maxBytes: 1e6,
    backups: 1,
    clock: new FakeClock(),
    log,
  });
  below.write("rate_limited", {});
  below.write("rate_limited", {});
  assert.equal(warnings.length, 1);
});
