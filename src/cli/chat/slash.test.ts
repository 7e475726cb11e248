import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#base/clock.ts";
import { ownIdentity } from "#base/process-identity.ts";
import type { SessionRow } from "#protocol/messages.ts";
import { openSessionHome } from "../../../test/kit/session-home.ts";
import { runSlash, type SlashHost } from "./slash.ts";

test("/stop: nothing runs; a turn of another process is named; it stops what runs here", async (t) => {
  const { service, store, work } = await openSessionHome(t, { env: { HERMES_DEMO_DELAY_MS: "5" } });
  const said: string[] = [];
  const stop = async (session: SessionRow | null): Promise<string | undefined> => {
    const print = (text: string): void => void said.push(text);
    await runSlash(
      { sessions: service, store, session, running: false, print } as SlashHost,
      "/stop",
    );
    return said.pop();
  };
  assert.equal(await stop(null), "Nothing runs.");
  const row = await service.start({ source: "cli", cwd: work });
  assert.equal(await stop(row), "Nothing runs.");

  const lease = {
    turnId: "theirs",
    owner: { ...ownIdentity(), surface: "telegram" },
    now: systemClock.now() / 1000,
    ttlSeconds: 30,
  };
  await store.takeLease(row.id, lease);
  assert.equal(
    await stop(row),
    `The turn was started from telegram, in another process (${process.pid}): stop it there.`,
  );
  await store.dropLease(row.id, "theirs");

  await service.send(row.id, { surface: "cli", answerable: false, text: "stream 2000" });
  assert.equal(await stop(row), undefined);
  assert.equal((await service.settled(row.id))?.outcome, "interrupted");
});
