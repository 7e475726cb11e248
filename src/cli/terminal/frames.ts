// What the dashboard and the process that holds its terminals tell each other (Node's IPC channel, one JSON-like value each).

/** A program to run on a terminal of its own. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
}

/** `id` names a terminal; the dashboard counts them. */
export type ToKeeper =
  | { readonly type: "start"; readonly id: number; readonly program: Program }
  | { readonly type: "input"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly type: "resize"; readonly id: number; readonly cols: number; readonly rows: number }
  | { readonly type: "pause" | "resume" | "end"; readonly id: number };

export type FromKeeper =
  | { readonly type: "started"; readonly id: number; readonly pid: number }
  /** Instead of `started`; nothing follows. */
  | { readonly type: "refused"; readonly id: number; readonly reason: string }
  | { readonly type: "output"; readonly id: number; readonly bytes: Uint8Array }
  /** So much input went on to the program. */
  | { readonly type: "taken"; readonly id: number; readonly bytes: number }
  | { readonly type: "exited"; readonly id: number; readonly code: number }
  /** Nothing of its session runs any more. */
  | { readonly type: "gone"; readonly id: number };
