// What the terminal tab needs from whoever may start processes (dashboard.md §9.4). The dashboard decides who sees what; the
// composition root starts and ends.

export interface TerminalRequest {
  readonly profile: string;
  /** Session that the interface opens first; null: a new one. */
  readonly resume: string | null;
  readonly cols: number;
  readonly rows: number;
}

/** Called in this order: output…, exited, gone; or refused alone. None may throw. */
export interface TerminalListener {
  output(bytes: Buffer): void;
  /** The program ended. `code` as a shell tells it: 128 + n after signal n. */
  exited(code: number): void;
  /** Nothing of its session runs any more. */
  gone(): void;
  /** It could not be started. One sentence for people, without secrets. */
  refused(reason: string): void;
  /** Input went on to the program: `pendingBytes` is smaller now. */
  taken(): void;
}

export interface TerminalChild {
  /** Input that the program has not taken yet. */
  readonly pendingBytes: number;
  write(bytes: Buffer): void;
  resize(cols: number, rows: number): void;
  /** Stops reading its output, so that it waits. */
  pause(): void;
  resume(): void;
  /** HUP, 2 s, KILL to every process of its session; then `gone`. Safe to call twice. */
  end(): void;
}

export interface TerminalHost {
  /** Runs `hermes -p PROFILE --tui` on a terminal of its own. Never throws. */
  start(request: TerminalRequest, listener: TerminalListener): TerminalChild;
  /** Ends all of them; resolves when they are gone, within 3 s. */
  close(): Promise<void>;
}
