// `state/cmd`: what stage2 runs as the container's command. Read by sh, never executed, so a noexec /run does no harm
// (container.md §2.3). Words are "binary" text: one character per byte, so that any bytes pass through.

export interface CommandFile {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Name of the user to become; null when setup is that user already. */
  readonly user: string | null;
}

export function renderCommand({ argv, cwd, user }: CommandFile): string {
  const words = [...(user === null ? [] : ["s6-setuidgid", user]), ...argv].map(quote).join(" ");
  return `cd ${quote(cwd)} 2>/dev/null\nexec ${words}\n`;
}

/** Inside single quotes sh keeps every byte; a quote itself is put between two quoted parts. */
function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The words of this process behind the first bare `--`, byte for byte: process.argv has lost what is no UTF-8. */
export function wordsAfterDashes(cmdline: Uint8Array): readonly string[] {
  const words = Buffer.from(cmdline).toString("latin1").split("\0").slice(0, -1);
  const at = words.indexOf("--");
  return at === -1 ? [] : words.slice(at + 1);
}

/** container.md §2.5: what the scripts wait for. They compute nothing. */
export interface StopLimits {
  /** Milliseconds between TERM and KILL of a slot. */
  readonly timeoutKillMs: number;
  /** Tenths of a second until the command is killed. */
  readonly commandKillSteps: number;
  /** Milliseconds until PID 1 stops waiting for the slots. */
  readonly endMs: number;
}

export function stopLimits(stopGraceSeconds: number): StopLimits {
  const slot = Math.max(stopGraceSeconds - 5, 1);
  return {
    timeoutKillMs: slot * 1000,
    commandKillSteps: (slot + 1) * 10,
    endMs: (slot + 2) * 1000,
  };
}

/** One line, read by `read -r steps end`. */
export function renderLimits({ commandKillSteps, endMs }: StopLimits): string {
  return `${commandKillSteps} ${endMs}\n`;
}
