// Running bash in its own process group, and ending a group with everything in it (agent.md §5.1, I8, field-rules K02).
import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { waitFor, type Clock } from "#base/clock.ts";
import { ToolError } from "#agent/ports/tool.ts";

/** Between TERM and KILL. */
const GRACE_MS = 2000;
const POLL_MS = 10;

// fd 3 tells the last working directory. fd 4 comes from us: when this process dies, however it dies, the pipe breaks and
// the watcher ends the group. The watcher is a grandchild, so that the command's own `wait` does not wait for it.
// Output goes through `cat` because ours is a socket, which a program cannot open as /dev/stdout; the second bash does
// not know that `cat` as a job, so that a bare `wait` does not wait for it.
const WRAPPER = `
( ( read -r _ <&4 || { kill -TERM 0; sleep 2; kill -KILL 0; } ) >/dev/null 2>&1 3>&- & ) </dev/null
exec > >(trap "" TERM; exec cat 3>&- 4<&-) 2>&1 4<&-
exec bash -c "$1" bash "$2"
`;
const INNER = `
trap 'pwd -P >&3 2>/dev/null' EXIT
__command=$1
shift
eval "$__command"
`;

export interface GroupOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: "empty" | "pipe";
}

export interface GroupExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ProcessGroup {
  /** The leader's pid, which is the group's id. */
  readonly pid: number;
  /** stdout and stderr, merged. */
  readonly output: Readable;
  readonly stdin: Writable | null;
  /** The leader's end. Never rejects. */
  readonly exited: Promise<GroupExit>;
  /** Where the shell stood at its end, null when it did not say. */
  cwd(): string | null;
  /**
   * After the leader's end: ends what it left in the group. True when something was left. Output is closed then.
   */
  settle(clock: Clock): Promise<boolean>;
  /** TERM, 2 s, KILL to the whole group. */
  end(clock: Clock): Promise<void>;
}

/** Starts `command`. Throws ToolError `SPAWN_FAILED`. */
export async function startGroup(options: GroupOptions): Promise<ProcessGroup> {
  const child = spawn("bash", ["-c", WRAPPER, "bash", INNER, options.command], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: [options.stdin === "pipe" ? "pipe" : "ignore", "pipe", "ignore", "pipe", "pipe"],
  });
  const exited = exitOf(child);
  await started(child);
  return groupOf(child, exited);
}

function exitOf(child: ChildProcess): Promise<GroupExit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      reject(new ToolError("SPAWN_FAILED", `bash could not be started: ${error.message}`));
    });
  });
}

function groupOf(child: ChildProcess, exited: Promise<GroupExit>): ProcessGroup {
  const pid = child.pid ?? 0;
  const output = child.stdout as Readable;
  const watcher = child.stdio[4] as Writable;
  // The watcher may be gone first: EPIPE is no news.
  watcher.on("error", () => undefined);
  const told = collect(child.stdio[3] as Readable);
  const group: ProcessGroup = {
    pid,
    output,
    stdin: child.stdin,
    exited,
    cwd: () => lastDirectory(told()),
    async settle(clock) {
      watcher.end("\n");
      const left = !(await isGroupGone(pid, clock, 200));
      if (left) await endGroup(pid, clock);
      await drained(output, clock);
      return left;
    },
    async end(clock) {
      await endGroup(pid, clock);
      watcher.destroy();
    },
  };
  return group;
}

function collect(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    text = (text + chunk).slice(-8192);
  });
  stream.on("error", () => undefined);
  return () => text;
}

function lastDirectory(text: string): string | null {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  if (!line.startsWith("/")) return null;
  try {
    return statSync(line).isDirectory() ? line : null;
  } catch {
    return null;
  }
}

/** The clock's timers do not keep the process alive, and here nothing else may. */
async function pause(clock: Clock, delayMs: number): Promise<void> {
  const hold = setInterval(() => undefined, 60_000);
  try {
    await waitFor(clock, delayMs);
  } finally {
    clearInterval(hold);
  }
}

/** Waits for the end of the stream; one that a process outside the group keeps open is cut off. */
async function drained(stream: Readable, clock: Clock): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  const ended = new Promise<void>((resolve) => {
    stream.once("close", resolve);
  });
  await Promise.race([ended, pause(clock, 300)]);
  stream.destroy();
}

export async function endGroup(pid: number, clock: Clock): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return;
  if (await isGroupGone(pid, clock, GRACE_MS)) return;
  signalGroup(pid, "SIGKILL");
  await isGroupGone(pid, clock, 500);
}

async function isGroupGone(pid: number, clock: Clock, withinMs: number): Promise<boolean> {
  // Looking costs a walk through /proc, so the pauses grow.
  for (
    let waited = 0, step = POLL_MS;
    waited < withinMs;
    waited += step, step = Math.min(step * 2, 200)
  ) {
    if (!isGroupAlive(pid)) return true;
    await pause(clock, Math.min(step, withinMs - waited));
  }
  return !isGroupAlive(pid);
}

function isGroupAlive(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false;
  const members = groupMembers(pid);
  return members === null || members.length > 0;
}

/** False when there is no such group. Never signals group 0 or 1. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (pid <= 1) return false;
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

interface ProcessFacts {
  readonly pid: number;
  readonly group: number;
  readonly startTime: number;
}

/** Living members; zombies that nobody reaps do not count. null where there is no /proc. */
function groupMembers(group: number): readonly number[] | null {
  const all = processes();
  return all === null
    ? null
    : all.filter((entry) => entry.group === group).map((entry) => entry.pid);
}

function processes(): readonly ProcessFacts[] | null {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null;
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => factsOf(Number(name)));
}

/** proc_pid_stat(5): fields are counted from the last ")". */
function factsOf(pid: number): readonly ProcessFacts[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return [];
    return [{ pid, group: Number(fields[2]), startTime: Number(fields[19]) }];
  } catch {
    return [];
  }
}

export interface EscapeFacts {
  /** Marks that tool processes of this session carry in their environment. */
  readonly sessionId: string;
  readonly home: string;
  /** Groups that may live on. */
  readonly keepGroups: ReadonlySet<number>;
  /** Only processes at most as old as this one's child (clock ticks); 0: all. */
  readonly sinceTicks: number;
}

/** Start time of the newest process now, in ticks, to tell later ones apart. 0 where there is no /proc. */
export function ticksNow(): number {
  return processes()?.reduce((newest, entry) => Math.max(newest, entry.startTime), 0) ?? 0;
}

/** Ends processes of the session that left their group (`setsid`, daemons): TERM, 2 s, KILL. */
export async function endEscaped(facts: EscapeFacts, clock: Clock): Promise<void> {
  const find = (): readonly number[] => escaped(facts);
  const first = find();
  if (first.length === 0) return;
  for (const pid of first) signalOne(pid, "SIGTERM");
  for (let waited = 0; waited < GRACE_MS && find().length > 0; waited += 100)
    await pause(clock, 100);
  for (const pid of find()) signalOne(pid, "SIGKILL");
}

function escaped(facts: EscapeFacts): readonly number[] {
  return (processes() ?? [])
    .filter((entry) => entry.pid !== process.pid && entry.startTime >= facts.sinceTicks)
    .filter((entry) => !facts.keepGroups.has(entry.group) && isOfSession(entry.pid, facts))
    .map((entry) => entry.pid);
}

function isOfSession(pid: number, facts: EscapeFacts): boolean {
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`;
    return (
      environment.includes(`\0HERMES_SESSION_ID=${facts.sessionId}\0`) &&
      environment.includes(`\0HERMES_HOME=${Buffer.from(facts.home).toString("latin1")}\0`)
    );
  } catch {
    return false;
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}
