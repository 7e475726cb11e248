// The border from errors to people, programs and exit codes (agent.md §1.4, §1.5).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { errnoOf, HermesError, messageOf, type Problem, isNoRoom } from "#base/errors.ts";
import type { Io } from "./io.ts";

/** Prints `error` once, on stderr or as the `--json` object, and returns the exit code. `redact` hides known secrets. */
export function reportError(
  error: unknown,
  io: Io,
  redact: (text: string) => string = (text) => text,
): ExitCode {
  const known = toHermesError(error);
  if (io.json) io.object(JSON.parse(redact(JSON.stringify({ error: asObject(known) }))));
  else io.note(redact(asText(known)));
  return known.exit;
}

/** One line, for `chat -q`: message and way out. */
export function oneLine(error: HermesError): string {
  const found = error.problems.map((entry) => entry.message);
  const parts = [error.message, ...found.filter((entry) => !error.message.includes(entry))];
  // A way out is a sentence of its own, unless the message ended one already.
  const sentences = [...parts, error.fix ?? ""].filter(Boolean);
  return sentences
    .map((text, index) =>
      index < sentences.length - 1 && /[^.;:!?…]$/u.test(text) ? `${text};` : text,
    )
    .join(" ")
    .replaceAll(/\s*\n\s*/g, " ");
}

export function toHermesError(error: unknown): HermesError {
  if (error instanceof HermesError) return error;
  const errno = errnoOf(error);
  if (errno === "EACCES" || errno === "EPERM") {
    return new HermesError("NOT_PERMITTED", messageOf(error), {
      exit: EXIT.notPermitted,
      fix: "Look at owner and mode of that path.",
      cause: error,
    });
  }
  if (errno !== null && (isNoRoom(error) || errno === "EROFS")) {
    const what = errno === "EROFS" ? "the file system is read-only" : "the disk is full";
    return new HermesError(errno, `${what} (${messageOf(error)})`, {
      fix: "Nothing was changed. Free some space or make the home writable, then repeat it.",
      cause: error,
    });
  }
  return new HermesError(errno ?? "INTERNAL", messageOf(error), { cause: error });
}

function asText(error: HermesError): string {
  const lines = [`hermes: ${error.message}`];
  for (const problem of error.problems) {
    // A collected error may list its findings in its own sentence already; then only their ways out are new.
    const known = error.message.includes(problem.message);
    if (!known) lines.push(...problemLines(problem));
    else if (problem.fix !== null && problem.fix !== error.fix) lines.push(`  ${problem.fix}`);
  }
  if (error.fix !== null) lines.push(`  ${error.fix}`);
  return lines.join("\n");
}

/** A problem as one or two indented lines. */
export function problemLines(problem: Problem): string[] {
  const where = problem.setting === null ? "" : `${problem.setting}: `;
  const lines = [`  ${problem.level === "error" ? "✗" : "!"} ${where}${problem.message}`];
  if (problem.fix !== null) lines.push(`    ${problem.fix}`);
  return lines;
}

function asObject(error: HermesError): Readonly<Record<string, unknown>> {
  const { code, message, exit, fix, problems, data } = error;
  return {
    code,
    message: fix === null ? message : `${message} ${fix}`,
    exit,
    problems,
    ...onlyData(data),
  };
}

/** Candidates of an ambiguous reference and the like; nothing else of `data` is part of the contract. */
function onlyData(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return "candidates" in data ? { candidates: data["candidates"] } : {};
}
