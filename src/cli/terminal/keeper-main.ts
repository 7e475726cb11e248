// The process that holds the dashboard's terminals: a program of its own, because the master side of a terminal reaches every
// process that is started beside it, and because it outlives a dashboard that was killed just long enough to end what ran.
import { messageOf } from "#base/errors.ts";
import type { FromKeeper, Program, ToKeeper } from "./frames.ts";
import { createInputQueue } from "./input-queue.ts";
import type { IPty, spawn } from "./native.ts";
import { endSession, sessionOf } from "./session-processes.ts";

const MOST_UNSENT_BYTES = 512 * 1024;

type Loaded =
  | { readonly ok: true; readonly spawn: typeof spawn }
  | { readonly ok: false; readonly reason: string };

interface Terminal {
  input(bytes: Uint8Array): void;
  resize(cols: number, rows: number): void;
  hold(on: boolean): void;
  end(): Promise<void>;
}

/** What the package's terminal has beside its published type. */
interface PtyInside extends IPty {
  readonly fd: number;
  on(event: "close", listener: () => void): void;
}

const terminals = new Map<number, Terminal>();
const loading = load();
// Frames wait for the package, and for each other.
let turn: Promise<unknown> = loading;
const afterwards = (work: () => Promise<void> | void): void => void (turn = turn.then(work));

process.title = "hermes terminals";
if (process.send === undefined) {
  process.stderr.write("hermes: the dashboard starts this program; alone it has nothing to do.\n");
  process.exit(64);
}
process.on("message", (frame) => afterwards(() => receive(frame as ToKeeper)));
process.once("disconnect", () => afterwards(leave));
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(name, () => afterwards(leave));
}

async function load(): Promise<Loaded> {
  try {
    const native = await import("./native.ts");
    return { ok: true, spawn: native.spawn };
  } catch (error) {
    process.stderr.write(`hermes: no terminals: ${messageOf(error)}\n`);
    const where = `${process.platform}-${process.arch}`;
    const reason = `the optional package @lydell/node-pty cannot be loaded on this system (${where}).`;
    return { ok: false, reason };
  }
}

/** Whoever we work for is gone or says so: nothing may stay. */
async function leave(): Promise<void> {
  await Promise.all([...terminals.values()].map((terminal) => terminal.end()));
  process.exit(0);
}

async function receive(frame: ToKeeper): Promise<void> {
  const terminal = terminals.get(frame.id);
  switch (frame.type) {
    case "start":
      return start(frame.id, frame.program);
    case "input":
      return terminal?.input(frame.bytes);
    case "resize":
      return terminal?.resize(frame.cols, frame.rows);
    case "pause":
    case "resume":
      return terminal?.hold(frame.type === "pause");
    case "end":
      // The next frame does not wait for it.
      return void terminal?.end();
    default:
      return frame satisfies never;
  }
}

function tell(frame: FromKeeper, onSent: () => void = () => undefined): void {
  if (process.connected) process.send?.(frame, undefined, undefined, onSent);
}

async function start(id: number, program: Program): Promise<void> {
  const loaded = await loading;
  if (!loaded.ok) {
    tell({ type: "refused", id, reason: loaded.reason });
    return;
  }
  const { file, args, cwd, env, cols, rows } = program;
  const options = { name: "xterm-256color", cols, rows, cwd, env, encoding: null };
  try {
    const pty = loaded.spawn(file, [...args], options) as PtyInside;
    terminals.set(id, openTerminal(id, pty));
    tell({ type: "started", id, pid: pty.pid });
  } catch (error) {
    tell({ type: "refused", id, reason: messageOf(error).split("\n")[0] ?? "" });
  }
}

function openTerminal(id: number, pty: PtyInside): Terminal {
  const session = sessionOf(pty.pid);
  const input = createInputQueue(pty.fd, (bytes) => tell({ type: "taken", id, bytes }));
  let isOpen = true;
  let isHeld = false;
  let unsentBytes = 0;
  let ended: Promise<void> | null = null;

  const flow = (): void => (isHeld || unsentBytes > MOST_UNSENT_BYTES ? pty.pause() : pty.resume());
  const end = async (): Promise<void> => {
    await endSession(session);
    terminals.delete(id);
    tell({ type: "gone", id });
  };
  const terminal: Terminal = {
    input: (bytes) => input.write(bytes),
    resize: (cols, rows) => void (isOpen && pty.resize(cols, rows)),
    hold(on) {
      isHeld = on;
      flow();
    },
    end: () => (ended ??= end()),
  };
  // By type a string; without an encoding it is bytes.
  pty.onData((data) => {
    const bytes = data as unknown as Buffer;
    unsentBytes += bytes.length;
    flow();
    tell({ type: "output", id, bytes }, () => {
      unsentBytes -= bytes.length;
      flow();
    });
  });
  pty.on("close", () => {
    isOpen = false;
    input.close();
  });
  pty.onExit(({ exitCode, signal }) => {
    tell({ type: "exited", id, code: signal ? 128 + signal : exitCode });
    void terminal.end();
  });
  return terminal;
}
