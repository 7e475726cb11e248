// The dashboard's side of its terminals: starts the process that holds them with the first one and lets it go after the last.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Log } from "#base/log.ts";
import type {
  TerminalChild,
  TerminalHost,
  TerminalListener,
  TerminalRequest,
} from "#dashboard/pty-port.ts";
import type { FromKeeper, Program, ToKeeper } from "./frames.ts";
import { endSession, type SessionId, sessionOf } from "./session-processes.ts";

const CLOSE_WITHIN_MS = 2900;

export interface TerminalHostDeps {
  /** What runs in the terminal. */
  readonly program: (request: TerminalRequest) => Program;
  /** The directory that holds dist/. */
  readonly project: string;
  readonly log: Log;
}

export function openTerminalHost(deps: TerminalHostDeps): TerminalHost {
  let keeper: Keeper | null = null;
  let count = 0;
  return {
    start(request, listener) {
      keeper = keeper?.isUsable ? keeper : new Keeper(deps);
      return keeper.start(++count, deps.program(request), listener);
    },
    close: () => keeper?.close() ?? Promise.resolve(),
  };
}

interface Held {
  readonly listener: TerminalListener;
  pendingBytes: number;
  /** null until it is known. */
  session: SessionId | null;
}

/** One life of the process. */
class Keeper {
  readonly #child: ChildProcess;
  readonly #held = new Map<number, Held>();
  readonly #ended: Promise<void>;

  constructor({ project, log }: TerminalHostDeps) {
    // A session of its own: what ends our group, or a Ctrl-C at our terminal, must not end it before its work is done.
    this.#child = spawn(process.execPath, [keeperFile(project)], {
      detached: true,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: {},
    });
    this.#child.on("message", (frame) => this.#receive(frame as FromKeeper));
    this.#ended = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", (error) => {
        log.error(`terminals: ${error.message}`);
        resolve();
      });
    });
    void this.#ended.then(() => this.#lost());
  }

  get isUsable(): boolean {
    return this.#child.connected;
  }

  start(id: number, program: Program, listener: TerminalListener): TerminalChild {
    const held: Held = { listener, pendingBytes: 0, session: null };
    this.#held.set(id, held);
    this.#tell({ type: "start", id, program });
    return {
      get pendingBytes() {
        return held.pendingBytes;
      },
      write: (bytes) => {
        held.pendingBytes += bytes.length;
        this.#tell({ type: "input", id, bytes });
      },
      resize: (cols, rows) => this.#tell({ type: "resize", id, cols, rows }),
      pause: () => this.#tell({ type: "pause", id }),
      resume: () => this.#tell({ type: "resume", id }),
      end: () => this.#tell({ type: "end", id }),
    };
  }

  /** The end of the channel is the word to end everything. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const limit = new Promise<void>((resolve) => {
      setTimeout(resolve, CLOSE_WITHIN_MS).unref();
    });
    await Promise.race([this.#ended, limit]);
  }

  #tell(frame: ToKeeper): void {
    if (!this.#child.connected) return;
    // A failure to send is the other side's end, which is heard of by itself.
    this.#child.send(frame, () => undefined);
  }

  #receive(frame: FromKeeper): void {
    const held = this.#held.get(frame.id);
    if (!held) return;
    switch (frame.type) {
      case "started":
        held.session = sessionOf(frame.pid);
        return;
      case "output":
        held.listener.output(Buffer.from(frame.bytes));
        return;
      case "taken":
        held.pendingBytes -= frame.bytes;
        held.listener.taken();
        return;
      case "exited":
        held.listener.exited(frame.code);
        return;
      case "refused":
        this.#forget(frame.id);
        held.listener.refused(frame.reason);
        return;
      case "gone":
        this.#forget(frame.id);
        held.listener.gone();
        return;
      default:
        frame satisfies never;
    }
  }

  /** After the last one nobody needs the process. */
  #forget(id: number): void {
    this.#held.delete(id);
    if (this.#held.size === 0 && this.#child.connected) this.#child.disconnect();
  }

  /** It died, or could not be started: what it held is ended from here. */
  #lost(): void {
    for (const [id, held] of this.#held) {
      this.#held.delete(id);
      void letGo(held);
    }
  }
}

async function letGo({ listener, session }: Held): Promise<void> {
  if (session === null) {
    listener.refused("the process that holds terminals ended.");
    return;
  }
  listener.exited(129);
  await endSession(session);
  listener.gone();
}

/** Beside the sources while they run, else what the build made of it. */
function keeperFile(project: string): string {
  return import.meta.filename.endsWith(".ts")
    ? join(import.meta.dirname, "keeper-main.ts")
    : join(project, "dist", "terminal-keeper.js");
}
