// The page's side of WS /api/pty: one program, found again after a lost connection (dashboard.md §4.4, §9.4).
import { MOST_REFUSALS, waitMs } from "../../socket/backoff.ts";

export type PtyState =
  | { readonly kind: "connecting" }
  | { readonly kind: "open" }
  /** Lost; trying again with back-off. */
  | { readonly kind: "waiting" }
  /** Another viewer has it. */
  | { readonly kind: "taken" }
  | { readonly kind: "ended"; readonly exitCode: string }
  /** Too many terminals; the reason says whose. */
  | { readonly kind: "full"; readonly reason: string }
  /** Switched off by the settings. */
  | { readonly kind: "off" }
  | { readonly kind: "signed-out" }
  /** It cannot start; what the server says about it. */
  | { readonly kind: "failed"; readonly reason: string };

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface PtyWire {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export interface PtyWireListener {
  onOpen(): void;
  onBytes(bytes: Uint8Array): void;
  onText(text: string): void;
  onClose(code: number, reason: string): void;
}

export interface PtyLinkDeps {
  /** A URL with a fresh credential. Rejects when none can be had. */
  readonly makeUrl: (size: Size) => Promise<string>;
  readonly open: (url: string, listener: PtyWireListener) => PtyWire;
  readonly after: (delayMs: number, run: () => void) => { cancel(): void };
  readonly random: () => number;
  /** Asks the HTTP side whether we are still signed in. */
  readonly checkCredential: () => Promise<void>;
}

export interface PtyLinkListener {
  onState(state: PtyState): void;
  /** A connection is there: what is shown comes again from the start. */
  onFresh(): void;
  onBytes(bytes: Uint8Array): void;
}

/** Text frames stay below the server's 64 KiB, whatever the letters. */
const MOST_LETTERS = 16_000;
const LARGEST = 500;

export class PtyLink {
  readonly #deps: PtyLinkDeps;
  readonly #listener: PtyLinkListener;
  #wire: PtyWire | null = null;
  #isOpen = false;
  #isStopped = false;
  #size: Size;
  #said = "";
  #attempt = 0;
  #refusals = 0;
  /** Counts connections, so that what an old one says late is not heard. */
  #turn = 0;
  #timer: { cancel(): void } | null = null;

  constructor(deps: PtyLinkDeps, listener: PtyLinkListener, size: Size) {
    this.#deps = deps;
    this.#listener = listener;
    this.#size = size;
  }

  /** Connects, or connects anew: to the same program while it runs, else to a new one. */
  connect(): void {
    this.#drop();
    this.#isStopped = false;
    this.#attempt = 0;
    this.#refusals = 0;
    void this.#open("connecting");
  }

  /** Network back or tab visible: now instead of after the wait. */
  nudge(): void {
    if (this.#timer === null) return;
    this.#attempt = 0;
    void this.#open("waiting");
  }

  /** Leaves the program to the server, which ends it after a minute. */
  stop(): void {
    this.#isStopped = true;
    this.#drop();
  }

  type(text: string): void {
    for (const part of splitText(text, MOST_LETTERS)) this.#send(part);
  }

  bytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#send(bytes);
  }

  resize({ cols, rows }: Size): void {
    this.#size = { cols: Math.min(cols, LARGEST), rows: Math.min(rows, LARGEST) };
    this.#send(`\u001b[RESIZE:${this.#size.cols};${this.#size.rows}]`);
  }

  #send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#isOpen) this.#wire?.send(data);
  }

  #drop(): void {
    this.#turn += 1;
    this.#timer?.cancel();
    this.#timer = null;
    this.#isOpen = false;
    this.#wire?.close();
    this.#wire = null;
  }

  async #open(kind: "connecting" | "waiting"): Promise<void> {
    this.#drop();
    const turn = this.#turn;
    const isCurrent = (): boolean => turn === this.#turn && !this.#isStopped;
    this.#listener.onState({ kind });
    let url: string;
    try {
      url = await this.#deps.makeUrl(this.#size);
    } catch {
      if (isCurrent()) this.#later();
      return;
    }
    if (!isCurrent()) return;
    this.#said = "";
    const asked = this.#size;
    this.#wire = this.#deps.open(url, {
      onOpen: () => {
        if (isCurrent()) this.#opened(asked);
      },
      onBytes: (bytes) => {
        if (!isCurrent()) return;
        this.#proven();
        this.#listener.onBytes(bytes);
      },
      onText: (text) => {
        if (isCurrent()) this.#said += text;
      },
      onClose: (code, reason) => {
        if (!isCurrent()) return;
        this.#wire = null;
        this.#isOpen = false;
        this.#closed(code, reason);
      },
    });
  }

  #opened(asked: Size): void {
    this.#isOpen = true;
    this.#listener.onFresh();
    this.#listener.onState({ kind: "open" });
    if (asked !== this.#size) this.resize(this.#size);
  }

  /** A socket that opens proves nothing: refusals come after it. Output does. */
  #proven(): void {
    this.#attempt = 0;
    this.#refusals = 0;
  }

  #closed(code: number, reason: string): void {
    const said = this.#said.trim();
    switch (code) {
      case 4401:
        return this.#refused();
      case 4403:
        return this.#listener.onState({ kind: "off" });
      case 4409:
        return this.#listener.onState({ kind: "taken" });
      case 4410:
        return this.#listener.onState({ kind: "ended", exitCode: reason });
      case 4429:
        return this.#listener.onState({ kind: "full", reason });
      case 4400:
      case 4404:
        return this.#listener.onState({ kind: "failed", reason: said || reason });
      default:
        // With words of the server it is a matter for people, without them one of the connection.
        if (said !== "") return this.#listener.onState({ kind: "failed", reason: said });
        return this.#later();
    }
  }

  #refused(): void {
    this.#refusals += 1;
    if (this.#refusals >= MOST_REFUSALS) {
      this.#listener.onState({ kind: "signed-out" });
      return;
    }
    const turn = this.#turn;
    const again = (): void => {
      if (turn === this.#turn && !this.#isStopped) this.#later();
    };
    this.#deps.checkCredential().then(again, again);
  }

  #later(): void {
    this.#listener.onState({ kind: "waiting" });
    const delay = waitMs(this.#attempt, this.#deps.random());
    this.#attempt += 1;
    this.#timer = this.#deps.after(delay, () => void this.#open("waiting"));
  }
}

/** Parts of at most `most` UTF-16 units, none of which ends inside a letter. */
export function splitText(text: string, most: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + most, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
