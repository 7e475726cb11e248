// The process's side of its slot (container.md §6.2, §6.3): identity first, then readiness, a sign of life for whoever asks, and
// the reason when it refuses.
import { closeSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { evict, readOrphan, writeIdentity } from "./identity.ts";
import { type LiveSocket, openLiveSocket } from "./live.ts";

export interface SlotProcess {
  readonly name: string;
  /** Absolute slot directory. */
  readonly dir: string;
  /** Opens `data/live`, then writes the readiness byte and closes its descriptor; forgets the last refusal. Once. */
  ready(): Promise<void>;
  /** Writes `data/last_error.json`, which every surface shows. Never throws. */
  refuse(error: HermesError): void;
  close(): void;
}

export interface SlotProcessOptions {
  readonly name: string;
  readonly dir: string;
  readonly home: string;
  readonly readyFd: number;
  readonly uid: number | null;
}

/** Throws SLOT_ROOT (78): nothing that a slot starts may be root. Evicts what an earlier supervisor left behind. */
export async function openSlotProcess(options: SlotProcessOptions): Promise<SlotProcess> {
  const { name, dir, home, readyFd, uid } = options;
  if (uid === 0) throw rootRefused(name);
  const orphan = readOrphan(dir, name, home);
  if (orphan !== null) await evict(orphan);
  writeIdentity(dir, name, home);
  let live: LiveSocket | null = null;
  let isReady = false;
  return {
    name,
    dir,
    async ready() {
      if (isReady) return;
      isReady = true;
      live = await openLiveSocket(dir);
      rmSync(join(dir, "data", "last_error.json"), { force: true });
      writeSync(readyFd, "\n");
      closeSync(readyFd);
    },
    refuse: (error) => writeLastError(dir, error),
    close: () => live?.close(),
  };
}

function writeLastError(dir: string, error: HermesError): void {
  const own = error.data["ways_out"];
  const ways = Array.isArray(own)
    ? own.filter((way): way is string => typeof way === "string")
    : [error.fix, ...error.problems.map(({ fix }) => fix)].filter((way) => way !== null);
  const record = {
    code: error.code,
    message: sentences(error),
    ways_out: [...new Set(ways.flatMap((way) => way.split("\n")))],
    setting: error.setting,
    at: new Date().toISOString(),
    pid: process.pid,
  };
  try {
    writeFileAtomic(join(dir, "data", "last_error.json"), `${JSON.stringify(record)}\n`, {
      mode: 0o600,
    });
  } catch {
    // Its log has the same text; a full scan directory must not turn a refusal into a crash.
  }
}

/** An error of one problem often says the same as its problem. */
function sentences({ message, problems }: HermesError): string {
  const more = problems.map((problem) => problem.message).filter((text) => !message.includes(text));
  return [message, ...new Set(more)].join(" ");
}

function rootRefused(name: string): HermesError {
  return new HermesError("SLOT_ROOT", `The slot ${name} does not run as root.`, {
    exit: EXIT.refused,
    fix: "Let the scan directory belong to the user hermes, and supervise it as that user.",
  });
}
