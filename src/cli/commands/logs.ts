// `hermes logs` (agent.md §1.3, §11.3).
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { errnoOf } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { LOG_LEVELS, parseLogLevel, parseLogLine, type LogFilter } from "#base/log-lines.ts";
import { nearestWords } from "#base/text.ts";
import { usageError, type OptionValues } from "../command-line.ts";
import { flagOption, numberOption, textOption, type Context } from "../context.ts";
import type { Io } from "../io.ts";
import { LogFollower, readLastLines } from "../log-reader.ts";

/** Names for people → files in logs/. */
const FILES: Readonly<Record<string, string>> = {
  agent: "agent.log",
  errors: "errors.log",
  gateway: "gateway.log",
  gui: "gui.log",
  dashboard: "gui.log",
  boot: "container-boot.log",
};
const DEFAULT_LINES = 50;
const POLL_MS = 250;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

export async function run({ launch, line, io }: Context): Promise<ExitCode> {
  const { options, operands } = line;
  const name = operands[0] ?? "agent";
  const folder = join(launch.home, "logs");
  if (name === "list") return listFiles(folder, io);
  const file = FILES[name];
  if (file === undefined) {
    const nearest = nearestWords(name, Object.keys(FILES)).join(", ");
    throw usageError(
      `There is no log "${name}".`,
      nearest === "" ? "See: hermes logs list" : `Did you mean ${nearest}?`,
    );
  }
  const path = join(folder, file);
  const filter = readFilter(options, Date.now());
  const follow = flagOption(options, "follow");
  if (!follow && ![path, `${path}.1`].some((entry) => isThere(entry))) {
    io.note(`${path} does not exist yet: nothing was logged.`);
    return EXIT.ok;
  }
  // The position is taken before the old lines are read, so that nothing falls between them.
  const follower = follow ? new LogFollower(path, filter) : null;
  for (const text of readLastLines(path, numberOption(options, "lines") ?? DEFAULT_LINES, filter)) {
    printLine(text, io);
  }
  if (follower) await followLog(follower, io);
  return EXIT.ok;
}

function readFilter(options: OptionValues, now: number): LogFilter {
  const level = textOption(options, "level");
  const since = textOption(options, "since");
  const session = textOption(options, "session");
  const component = textOption(options, "component");
  return {
    ...(level === undefined ? {} : { minLevel: readLevel(level) }),
    ...(since === undefined ? {} : { since: readSince(since, now) }),
    ...(session === undefined ? {} : { session }),
    ...(component === undefined ? {} : { component }),
  };
}

function readLevel(text: string): NonNullable<LogFilter["minLevel"]> {
  const level = parseLogLevel(text);
  if (level === null) throw usageError(`--level: "${text}" is none of ${LOG_LEVELS.join(", ")}.`);
  return level;
}

/** `30m`, `2h`, `3d`, `90s` before now, or an ISO time. Milliseconds since 1970. */
function readSince(text: string, now: number): number {
  const span = /^(\d{1,6})([smhd])$/.exec(text.trim());
  if (span) return now - Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0) * 1000;
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw usageError(`--since: "${text}" is neither 30m, 2h, 3d nor an ISO time.`);
  return at;
}

/** JSON lines are made readable; with --json, and for lines that are none, they come as they are. */
function printLine(raw: string, io: Io): void {
  const { at, level, component, message } = parseLogLine(raw);
  if (io.json) io.line(at === null ? JSON.stringify({ raw }) : raw);
  else if (at === null) io.line(raw);
  else {
    const time = new Date(at).toISOString();
    const word = (level ?? "").toUpperCase().padEnd(7);
    const painted =
      level === "error"
        ? io.paint("red", word)
        : level === "warning"
          ? io.paint("yellow", word)
          : word;
    io.line(`${time} ${painted} ${component ?? ""}: ${message}`);
  }
}

/** False only when it is missing: a folder that may not be read is no empty one. */
function isThere(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function followLog(follower: LogFollower, io: Io): Promise<void> {
  while (!io.stdout.destroyed) {
    for (const text of follower.read()) printLine(text, io);
    await wait(POLL_MS);
  }
}

function listFiles(folder: string, io: Io): ExitCode {
  const files = existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((name) => ({ name, size: statSync(join(folder, name)).size }))
    : [];
  if (io.json) for (const file of files) io.line(JSON.stringify(file));
  else for (const { name, size } of files) io.line(`${String(size).padStart(10)}  ${name}`);
  if (files.length === 0) io.note(`No logs in ${folder} yet.`);
  return EXIT.ok;
}
