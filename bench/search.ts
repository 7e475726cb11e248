// Full-text search over a store of 1,000,000 messages (product.md §4: p99 ≤ 30 ms). HERMES_BENCH_MESSAGES takes fewer.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { openStore } from "#store/open.ts";
import { makeMessages, QUERIES } from "./make-messages.ts";
import { median, percentile, report } from "./measure.ts";

const RUNS_PER_QUERY = 40;

export async function search(): Promise<void> {
  const count = Number(process.env["HERMES_BENCH_MESSAGES"] ?? 1_000_000);
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const path = join(folder, "state.db");
  try {
    const started = performance.now();
    await makeMessages(path, count);
    report("made the store", {
      messages: count,
      seconds: (performance.now() - started) / 1000,
      MB: statSync(path).size / 1e6,
    });
    const store = await openStore({
      path,
      backupsDir: join(folder, "backups"),
      journalMode: "auto",
      clock: systemClock,
      log: silentLog,
    });
    const all: number[] = [];
    for (const query of QUERIES) {
      const times: number[] = [];
      let hits = 0;
      for (let run = 0; run < RUNS_PER_QUERY; run++) {
        const begun = performance.now();
        hits = (await store.search(query, { limit: 20 })).hits.length;
        times.push(performance.now() - begun);
      }
      all.push(...times);
      report(`search ${JSON.stringify(query)}`, {
        "median ms": median(times),
        "p99 ms": percentile(times, 0.99),
        hits,
      });
    }
    report("search, all queries", { "p99 ms": percentile(all, 0.99), goal: "<= 30" });
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
