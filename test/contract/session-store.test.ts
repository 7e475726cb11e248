// The store contract on both of its implementations.
import { join } from "node:path";
import type { TestContext } from "node:test";
import { silentLog } from "#base/log.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { openStore } from "#store/open.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { MemoryStore } from "../kit/memory-store.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { sessionStoreContract, type StoreFixture } from "./session-store.ts";

sessionStoreContract("memory", async (_t, fixture) => new MemoryStore(fixture));

for (const journalMode of ["wal", "delete"] as const) {
  sessionStoreContract(`sqlite, ${journalMode}`, (t, fixture) =>
    openInTempDir(t, fixture, journalMode),
  );
}

async function openInTempDir(
  t: TestContext,
  fixture: StoreFixture,
  journalMode: "wal" | "delete",
): Promise<SessionStore> {
  const home = tempDir(t, "store");
  const store = await openStore({
    path: join(home, "state.db"),
    backupsDir: join(home, "backups"),
    journalMode,
    clock: new FakeClock(fixture.now() * 1000),
    log: silentLog,
    isAlive: fixture.isAlive,
  });
  t.after(() => store.close());
  return store;
}
