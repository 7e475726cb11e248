// Doctor: the store and the services.
import { existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "#base/clock.ts";
import { isHermesError, messageOf } from "#base/errors.ts";
import { silentLog } from "#base/log.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { placeOf } from "#store/file-system.ts";
import { openStore } from "#store/open.ts";
import { error, off, ok, warning, type DoctorItem, type DoctorSection } from "./report.ts";

/** A larger file is not read through within the two seconds that a doctor may take. */
const CHECK_LIMIT_BYTES = 100 * 1024 * 1024;
const LOW_SPACE_BYTES = 200 * 1024 * 1024;

export async function storeSection(loaded: LoadedConfig): Promise<DoctorSection> {
  return { id: "store", title: "Store", items: await storeItems(loaded) };
}

async function storeItems({ home, config }: LoadedConfig): Promise<readonly DoctorItem[]> {
  const path = join(home, "state.db");
  if (!existsSync(path)) return [off("STORE_MISSING", "No conversation was kept yet")];
  const { type, journalMode } = placeOf(path, config.database.journal_mode);
  const { size } = statSync(path);
  const items: DoctorItem[] = [
    ok(
      "STORE",
      `${path}: ${megabytes(size)}, ${type ?? "unknown file system"}, journal mode ${journalMode}`,
    ),
    spaceItem(home),
  ];
  try {
    const store = await openStore({
      path,
      backupsDir: join(home, "backups"),
      journalMode: config.database.journal_mode,
      clock: systemClock,
      log: silentLog,
    });
    try {
      items.push(...(await contentItems(store, size)));
    } finally {
      await store.close();
    }
  } catch (cause) {
    const fix = isHermesError(cause) ? cause.fix : null;
    items.push(error(isHermesError(cause) ? cause.code : "STORE_UNUSABLE", messageOf(cause), fix));
  }
  return items;
}

async function contentItems(
  store: Awaited<ReturnType<typeof openStore>>,
  size: number,
): Promise<readonly DoctorItem[]> {
  const items: DoctorItem[] = [];
  if (size > CHECK_LIMIT_BYTES)
    items.push(ok("NOT_CHECKED", `too large to read through here: hermes sessions check`));
  else {
    const damage = await store.check();
    items.push(
      ...damage.map((text) =>
        error("STORE_DAMAGED", text, "hermes sessions check says how to restore"),
      ),
    );
    if (damage.length === 0) items.push(ok("STORE_SOUND", "no damage found"));
  }
  const { partial } = await store.search("hermes", { limit: 1, all: true });
  items.push(
    partial
      ? warning("INDEX_INCOMPLETE", "the search index is not complete yet", "hermes doctor --fix")
      : ok("INDEX", "the search index is complete"),
  );
  return items;
}

function spaceItem(home: string): DoctorItem {
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  const text = `${megabytes(free)} free`;
  return free < LOW_SPACE_BYTES
    ? warning("DISK_LOW", text, "Free some space, or hermes sessions prune --dry-run")
    : ok("DISK", text);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10_485_760 ? 1 : 0)} MB`;
}

const INDEX_STEP_MS = 200;
const INDEX_LIMIT_MS = 10 * 60_000;

/** Keeps the store open until its index is complete: opening it is what goes on with it. False: nothing was to do. */
export async function finishIndex({ home, config }: LoadedConfig): Promise<boolean> {
  const path = join(home, "state.db");
  if (!existsSync(path)) return false;
  const store = await openStore({
    path,
    backupsDir: join(home, "backups"),
    journalMode: config.database.journal_mode,
    clock: systemClock,
    log: silentLog,
  });
  try {
    let waited = 0;
    while (
      (await store.search("hermes", { limit: 1, all: true })).partial &&
      waited < INDEX_LIMIT_MS
    ) {
      await wait(INDEX_STEP_MS);
      waited += INDEX_STEP_MS;
    }
    return waited > 0;
  } finally {
    await store.close();
  }
}
