// Findings of this room, made in one shape and printed in one order.
import type { Stats } from "node:fs";
import { HermesError, type Problem } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";

interface More {
  readonly fix?: string;
}

export function error(
  code: string,
  setting: string | null,
  message: string,
  more: More = {},
): Problem {
  return { code, level: "error", setting, message, fix: more.fix ?? null };
}

export function warning(
  code: string,
  setting: string | null,
  message: string,
  more: More = {},
): Problem {
  return { code, level: "warning", setting, message, fix: more.fix ?? null };
}

/** Errors first, then by setting and code: the same configuration always prints the same list. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const key = (problem: Problem): string =>
    `${problem.level}\0${problem.setting ?? ""}\0${problem.code}\0${problem.message}`;
  const byText = new Map(problems.map((problem) => [key(problem), problem]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
}

/** The one error of a configuration that cannot be honoured; all problems are in it. */
export function refusal(problems: readonly Problem[]): HermesError {
  const errors = problems.filter((problem) => problem.level === "error");
  const flagsOnly = errors.every((problem) => problem.code === "FLAG_INVALID");
  const [first] = errors;
  const message =
    errors.length === 1 && first !== undefined
      ? first.message
      : `${errors.length} settings cannot be honoured:\n${errors.map((p) => `- ${p.message}`).join("\n")}`;
  return new HermesError(flagsOnly ? "FLAG_REFUSED" : "CONFIG_REFUSED", message, {
    exit: flagsOnly ? EXIT.usage : EXIT.refused,
    ...(errors.length === 1 && first?.setting ? { setting: first.setting } : {}),
    ...(errors.length === 1 && first?.fix ? { fix: first.fix } : {}),
    problems,
  });
}

/** Our uid, or `?` where the system has none. */
export function ownUid(): number | string {
  return process.getuid?.() ?? "?";
}

/** ` (mode 0600, owner uid 0)` of what stands at `path`; empty when even that cannot be told. */
export function describeAccess(path: string, stat: (path: string) => Stats): string {
  try {
    const { mode, uid } = stat(path);
    return ` (mode ${(mode & 0o7777).toString(8).padStart(4, "0")}, owner uid ${uid})`;
  } catch {
    return "";
  }
}
