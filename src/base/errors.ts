// Errors as values: a stable code, the operator's sentence, the way out, and the exit code it ends a command with.
import { EXIT, type ExitCode } from "./exit-codes.ts";

/** One finding among several that are reported together (configuration, doctor, validation). */
export interface Problem {
  /** Stable upper-case word. */
  readonly code: string;
  readonly level: "error" | "warning";
  /** The setting at fault: a dotted key, a variable name or a path; null when there is none. */
  readonly setting: string | null;
  /** One sentence without secrets. */
  readonly message: string;
  /** The way out, one sentence; null when there is none. */
  readonly fix: string | null;
}

export interface HermesErrorOptions {
  /** Exit code when this error ends a command; 1 by default. */
  readonly exit?: ExitCode;
  readonly setting?: string;
  /** The way out, shown on its own line. */
  readonly fix?: string;
  readonly problems?: readonly Problem[];
  /** Structured facts for the caller that maps the error; never secrets. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The one error class that crosses rooms. `message` is written for the operator: it names the setting, the value and
 * the way out, and holds no secret. Programs look at `code` only.
 */
export class HermesError extends Error {
  readonly code: string;
  readonly exit: ExitCode;
  readonly setting: string | null;
  readonly fix: string | null;
  readonly problems: readonly Problem[];
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: HermesErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HermesError";
    this.code = code;
    this.exit = options.exit ?? EXIT.failed;
    this.setting = options.setting ?? null;
    this.fix = options.fix ?? null;
    this.problems = options.problems ?? [];
    this.data = options.data ?? {};
  }
}

/** True for our own error, with its code narrowed when one is given. */
export function isHermesError(error: unknown, code?: string): error is HermesError {
  return error instanceof HermesError && (code === undefined || error.code === code);
}

/** Node's errno word (`EACCES`, `ENOENT`, …) of an unknown error, else null. */
export function errnoOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  const { code } = error;
  return typeof code === "string" ? code : null;
}

/** The disk or the quota is used up: it passes by itself when somebody makes room, so nothing is refused for good because of it. */
export function isNoRoom(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOSPC" || errno === "EDQUOT";
}

/** The sentence of an unknown error, for logs and notices. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
