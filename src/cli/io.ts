// Where a command's words go: the answer to stdout, everything else to stderr (agent.md §1.6).
import { isatty } from "node:tty";
import { styleText } from "node:util";
import { inertButColour } from "#base/text.ts";

export type Style = Parameters<typeof styleText>[0];

export interface Io {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Both stdin and stdout are terminals: the only time that anything may ask. */
  readonly interactive: boolean;
  /** One JSON document was asked for. */
  readonly json: boolean;
  /** To stdout: as it is, but a terminal is not given what it would obey. */
  write(text: string): void;
  /** One line to stdout. */
  line(text?: string): void;
  /** One line to stderr. */
  note(text: string): void;
  /** The one object of `--json`; `"schema":1` is put at its top. */
  object(value: Readonly<Record<string, unknown>>): void;
  /** Colour for stdout, only where it is a terminal or FORCE_COLOR says so. */
  readonly paint: (style: Style, text: string) => string;
}

export function processIo(json: boolean): Io {
  const { stdin, stdout, stderr } = process;
  return {
    stdin,
    stdout,
    stderr,
    json,
    interactive: isatty(0) && isatty(1),
    write: (text) => void stdout.write(fit(stdout, text)),
    line: (text = "") => void stdout.write(`${fit(stdout, text)}\n`),
    note: (text) => void stderr.write(`${fit(stderr, text)}\n`),
    object: (value) => void stdout.write(`${JSON.stringify({ schema: 1, ...value })}\n`),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}

/** Titles, logs and answers were written by others; a file or a pipe gets them byte for byte. */
function fit(stream: NodeJS.WriteStream, text: string): string {
  return stream.isTTY ? inertButColour(text) : text;
}

/** Resolves when everything written so far has left this process; a process that ends earlier would lose it. */
export async function drain(io: Io): Promise<void> {
  await Promise.all([io.stdout, io.stderr].map((stream) => drainOne(stream)));
}

function drainOne(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write("", () => resolve());
  });
}
