// Every process of a terminal's session, found and ended (dashboard.md §9.4). A session outlives its leader and holds more than
// one process group: a program that makes groups of its own stays in it.
import { readdirSync, readFileSync } from "node:fs";
import { type Clock, systemClock, waitFor } from "#base/clock.ts";
import { processStartTime } from "#base/process-identity.ts";

/** Between HUP and KILL. */
const GRACE_MS = 2000;
const KILLED_WITHIN_MS = 500;

export interface SessionId {
  /** Pid of its leader. */
  readonly sid: number;
  /** Of the leader, so that a number that the kernel used again is told apart; null: it was gone at once. */
  readonly startTime: string | null;
}

export function sessionOf(leader: number): SessionId {
  return { sid: leader, startTime: processStartTime(leader) };
}

/** HUP (and CONT, for the stopped ones), 2 s, KILL. Resolves when nothing is left, or KILL did not help either. */
export async function endSession(session: SessionId, clock: Clock = systemClock): Promise<void> {
  signalAll(session, "SIGHUP");
  signalAll(session, "SIGCONT");
  if (await isGone(session, GRACE_MS, clock)) return;
  signalAll(session, "SIGKILL");
  // One that was forked in between is killed in the second round.
  if (await isGone(session, KILLED_WITHIN_MS, clock)) return;
  signalAll(session, "SIGKILL");
  await isGone(session, KILLED_WITHIN_MS, clock);
}

async function isGone(session: SessionId, withinMs: number, clock: Clock): Promise<boolean> {
  // Looking costs a walk through /proc, so the pauses grow.
  for (
    let waited = 0, step = 10;
    waited < withinMs;
    waited += step, step = Math.min(2 * step, 200)
  ) {
    if (membersOf(session).length === 0) return true;
    await hold(clock, Math.min(step, withinMs - waited));
  }
  return membersOf(session).length === 0;
}

/** The clock's timers do not keep the process alive, and here nothing else may. */
async function hold(clock: Clock, delayMs: number): Promise<void> {
  const reference = setInterval(() => undefined, 60_000);
  await waitFor(clock, delayMs);
  clearInterval(reference);
}

function signalAll(session: SessionId, signal: NodeJS.Signals): void {
  for (const pid of membersOf(session)) signalOne(pid, signal);
}

function signalOne(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Living members. Without /proc only the leader's process group can be reached: its number, negative. */
function membersOf({ sid, startTime }: SessionId): readonly number[] {
  if (sid <= 1) return [];
  const all = pids();
  if (all === null) return signalOne(-sid, 0) ? [-sid] : [];
  const now = processStartTime(sid);
  const isAnother = now !== null && now !== startTime;
  return isAnother ? [] : all.filter((pid) => isMember(pid, sid));
}

function pids(): readonly number[] | null {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return null;
  }
}

/** proc_pid_stat(5): session is field 6; fields are counted from the last ")". Zombies do not count. */
function isMember(pid: number, sid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, , , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && state !== "X" && Number(session) === sid;
  } catch {
    return false;
  }
}
