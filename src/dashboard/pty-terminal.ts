// One terminal of the browser: its program, its last output, and at most one viewer (dashboard.md §9.4).
import type { WebSocket } from "ws";
import type { Clock, Timer } from "#base/clock.ts";
import { CLOSE } from "#protocol/socket.ts";
import { keepAlive } from "./keep-alive.ts";
import type { TerminalChild, TerminalHost, TerminalListener, TerminalRequest } from "./pty-port.ts";
import { readClientFrame } from "./pty-query.ts";
import { createReplay } from "./pty-replay.ts";
import { closeSocket } from "./upgrade.ts";

/** How long a program waits for its viewer to come back. */
const LINGER_MS = 60_000;
const MOST_UNREAD_BYTES = 1024 * 1024;
const MOST_UNTAKEN_BYTES = 256 * 1024;

export interface TerminalFacts {
  /** Digest of the login session; null in local mode. */
  readonly owner: string | null;
  /** Owner and `attach` name; null: it ends with its socket. */
  readonly key: string | null;
  readonly clock: Clock;
  readonly host: TerminalHost;
  /** Called once, when nothing of it is left. */
  readonly onGone: (terminal: PtyTerminal) => void;
}

type Size = Pick<TerminalRequest, "cols" | "rows">;

export class PtyTerminal {
  readonly owner: string | null;
  readonly key: string | null;
  readonly #facts: TerminalFacts;
  readonly #replay = createReplay();
  /** What was typed before the program was there. */
  #early: Buffer[] = [];
  #child: TerminalChild | null = null;
  #viewer: WebSocket | null = null;
  #linger: Timer | null = null;
  #size: Size;
  #isPaused = false;
  #isEnding = false;
  #isGone = false;

  constructor(facts: TerminalFacts, size: Size) {
    this.owner = facts.owner;
    this.key = facts.key;
    this.#facts = facts;
    this.#size = size;
  }

  /** False as soon as it ends: then nobody may come back to it. */
  get isOpen(): boolean {
    return !this.#isEnding;
  }

  start(request: Omit<TerminalRequest, keyof Size>): void {
    if (this.#isEnding) return;
    this.#child = this.#facts.host.start({ ...request, ...this.#size }, this.#listener());
    for (const bytes of this.#early) this.#child.write(bytes);
    this.#early = [];
  }

  /** The last output, then what comes. An earlier viewer is told that another one took over. */
  show(ws: WebSocket, size: Size): void {
    this.#close(CLOSE.takenOver, "another viewer took over");
    this.#linger?.cancel();
    this.#viewer = ws;
    this.#resize(size);
    ws.on("message", (data: Buffer) => {
      if (this.#viewer === ws) this.#receive(ws, data);
    });
    ws.once("close", () => this.#leave(ws));
    keepAlive(ws, this.#facts.clock);
    const last = this.#replay.bytes();
    if (last.length > 0) this.#send(ws, last);
  }

  /** Closes the viewer with this code and ends the program. */
  end(code: number, reason: string): void {
    this.#close(code, reason);
    this.#end();
  }

  /** It never came to a program: said as a text frame, for people. */
  refuse(code: number, reason: string, text: string): void {
    this.#viewer?.send(`${text}\r\n`);
    this.end(code, reason);
  }

  #listener(): TerminalListener {
    return {
      output: (bytes) => {
        this.#replay.push(bytes);
        if (this.#viewer) this.#send(this.#viewer, bytes);
      },
      exited: (code) => this.end(CLOSE.childEnded, String(code)),
      gone: () => this.#gone(),
      refused: (reason) => {
        this.#child = null;
        this.refuse(CLOSE.internal, "cannot start", `The terminal cannot start: ${reason}`);
      },
      taken: () => this.#readOn(),
    };
  }

  #send(ws: WebSocket, bytes: Buffer): void {
    if (ws.readyState !== ws.OPEN) return;
    ws.send(bytes, { binary: true }, () => {
      if (this.#viewer === ws && ws.bufferedAmount <= MOST_UNREAD_BYTES / 2) this.#pause(false);
    });
    if (ws.bufferedAmount > MOST_UNREAD_BYTES) this.#pause(true);
  }

  #pause(on: boolean): void {
    if (this.#isPaused === on) return;
    this.#isPaused = on;
    if (on) this.#child?.pause();
    else this.#child?.resume();
  }

  #receive(ws: WebSocket, bytes: Buffer): void {
    const frame = readClientFrame(bytes);
    if (frame.kind === "resize") this.#resize(frame);
    if (frame.kind !== "input") return;
    if (this.#child) this.#child.write(bytes);
    else this.#early.push(bytes);
    if (this.#untaken() > MOST_UNTAKEN_BYTES) ws.pause();
  }

  #untaken(): number {
    const early = this.#early.reduce((sum, { length }) => sum + length, 0);
    return early + (this.#child?.pendingBytes ?? 0);
  }

  #readOn(): void {
    const ws = this.#viewer;
    if (ws?.isPaused && this.#untaken() <= MOST_UNTAKEN_BYTES / 2) ws.resume();
  }

  #resize({ cols, rows }: Size): void {
    if (cols === this.#size.cols && rows === this.#size.rows) return;
    this.#size = { cols, rows };
    this.#child?.resize(cols, rows);
  }

  /** The socket is gone, by whatever way. */
  #leave(ws: WebSocket): void {
    if (this.#viewer !== ws) return;
    this.#viewer = null;
    this.#pause(false);
    if (this.key === null) this.#end();
    else this.#linger = this.#facts.clock.after(LINGER_MS, () => this.#end());
  }

  #close(code: number, reason: string): void {
    const ws = this.#viewer;
    if (!ws) return;
    this.#viewer = null;
    this.#pause(false);
    ws.resume();
    closeSocket(ws, this.#facts.clock, code, reason);
  }

  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#linger?.cancel();
    if (this.#child) this.#child.end();
    else this.#gone();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#isEnding = true;
    this.#facts.onGone(this);
  }
}
