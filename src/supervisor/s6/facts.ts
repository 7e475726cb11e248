// What s6 and the files of a slot say, now (container.md §7.3): one s6-svstat, one s6-svdt, one question to the process.
import { closeSync, constants, existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { readBackoff } from "../backoff.ts";
import { asksLive } from "../live.ts";
import type { Death, SlotFacts } from "../port.ts";
import { readLastError } from "../service-files.ts";
import { readAsked, readSlotSpec } from "../slot-files.ts";
import { parseSlotName } from "../slot-name.ts";
import { parseDeaths, parseStatus, STATUS_FIELDS, type SupervisorStatus } from "./status.ts";
import type { RunTool } from "./tool.ts";

const UNSUPERVISED: SupervisorStatus = {
  up: false,
  wantedUp: false,
  normallyUp: false,
  ready: false,
  pid: null,
  exitCode: null,
  signal: null,
  changedAt: null,
  readyAt: null,
};

/** What s6 said, as long as its status file is the same one: it is replaced at each change. */
interface Told {
  readonly stamp: string;
  readonly status: SupervisorStatus;
  readonly deaths: readonly Death[];
}

/** Reads facts of slots; asks s6 again only where `supervise/status` changed. Never rejects. */
export class FactsReader {
  readonly #scandir: string;
  readonly #run: RunTool;
  readonly #told = new Map<string, Told>();

  constructor(scandir: string, run: RunTool) {
    this.#scandir = scandir;
    this.#run = run;
  }

  /** `slot` is a name of ours. */
  async read(slot: string): Promise<SlotFacts> {
    const dir = join(this.#scandir, slot);
    const made = madeAt(dir);
    const { kind, profile } = parseSlotName(slot) ?? { kind: "gateway", profile: slot };
    const told = made === null ? null : await this.#ask(slot, dir);
    const status = told?.status ?? UNSUPERVISED;
    const deaths = told?.deaths ?? [];
    return {
      slot,
      kind,
      profile,
      ...status,
      registered: made !== null,
      supervised: told !== null,
      finishing: isFinishing(status, deaths.length),
      registeredAt: made,
      deaths,
      backoff: made === null ? null : readBackoff(dir, Date.now()),
      askedAt: made === null ? null : readAsked(dir),
      answers: status.up && status.ready ? await asksLive(dir) : null,
      spec: made === null ? null : readSlotSpec(dir),
      lastError: made === null ? null : readLastError(dir),
    };
  }

  async #ask(slot: string, dir: string): Promise<Told | null> {
    const stamp = stampOf(dir);
    const known = this.#told.get(slot);
    if (known !== undefined && known.stamp === stamp && isSupervised(dir)) return known;
    const [answer, tally] = await Promise.all([
      this.#run("s6-svstat", ["-o", STATUS_FIELDS.join(","), dir]),
      // It makes the tally that is not there yet, as whoever asks: its supervisor could not write it then.
      existsSync(join(dir, "supervise", "death_tally")) ? this.#run("s6-svdt", [dir]) : null,
    ]);
    const status = answer.rc === 0 ? parseStatus(answer.stdout) : null;
    if (status === null) {
      this.#told.delete(slot);
      return null;
    }
    const told: Told = { stamp, status, deaths: tally?.rc === 0 ? parseDeaths(tally.stdout) : [] };
    // A finish script that runs changes nothing that the stamp shows until it ends.
    if (!isFinishing(status, told.deaths.length)) this.#told.set(slot, told);
    return told;
  }
}

/** Epoch milliseconds; null for what is no directory, or not ours to see. */
function madeAt(dir: string): number | null {
  try {
    const found = statSync(dir);
    return found.isDirectory() ? found.birthtimeMs : null;
  } catch {
    return null;
  }
}

/** The directory of a supervisor is closed to all but its own user. */
function stampOf(dir: string): string {
  try {
    const { ino, mtimeNs } = statSync(join(dir, "supervise", "status"), { bigint: true });
    return `${ino}:${mtimeNs}`;
  } catch {
    return "none";
  }
}

/** Nobody reads the control FIFO of a slot whose supervisor died. */
function isSupervised(dir: string): boolean {
  try {
    closeSync(
      openSync(join(dir, "supervise", "control"), constants.O_WRONLY | constants.O_NONBLOCK),
    );
    return true;
  } catch {
    return false;
  }
}

/** The finish script has ended when the later of the two stamps is its own (measured with s6 2.11 and 2.13). */
function isFinishing({ up, changedAt, readyAt }: SupervisorStatus, deaths: number): boolean {
  if (up || deaths === 0 || changedAt === null) return false;
  return readyAt === null || readyAt < changedAt;
}
