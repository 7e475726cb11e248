// From the launcher to one command and its exit code.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { errnoOf } from "#base/errors.ts";
import { parseCommandLine, usageError, type OptionValues } from "./command-line.ts";
import { COMMAND_MODULES } from "./commands.ts";
import { textOption, type Launch } from "./context.ts";
import { drain, processIo, type Io } from "./io.ts";
import { reportError } from "./report-error.ts";

/** Runs the command and ends the process with its code. */
export async function main(launch: Launch): Promise<void> {
  const io = processIo(asksForJson(launch.argv));
  endQuietlyOnClosedPipe(io);
  // Our clock's timers keep no process alive: a command that waits for one must not end before it is done.
  setInterval(() => undefined, 0x7fffffff);
  let code: ExitCode;
  try {
    code = await runCommand(launch, io);
  } catch (error) {
    code = reportError(error, io);
  }
  await drain(io);
  process.exit(code);
}

async function runCommand(launch: Launch, io: Io): Promise<ExitCode> {
  const line = await parseCommandLine(launch.argv);
  enterDirectory(line.options);
  const load = COMMAND_MODULES[line.path[0] ?? ""];
  if (!load) throw new Error(`no module for ${line.path.join(" ")}`);
  return (await load()).run({ launch, line, io });
}

/** Looked at before the words are parsed, so that an error in them is one JSON object too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

function enterDirectory(options: OptionValues): void {
  const path = textOption(options, "in");
  if (path === undefined) return;
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) throw usageError(`--in: no directory ${resolve(path)}.`);
  process.chdir(path);
}

/** `hermes … | head -1` is no failure. A chat saves its turn first: it takes this listener's place. */
function endQuietlyOnClosedPipe(io: Io): void {
  io.stdout.on("error", (error) => {
    if (errnoOf(error) === "EPIPE" && io.stdout.listenerCount("error") > 1) return;
    process.exit(errnoOf(error) === "EPIPE" ? EXIT.ok : EXIT.failed);
  });
  io.stderr.on("error", () => undefined);
}
