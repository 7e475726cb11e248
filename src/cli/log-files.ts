// Our log files (agent.md §11.3): JSON lines, redacted; one file per component and errors.log for the warnings of all.
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DestinationStream, Logger } from "pino";
import type { Redactor } from "#agent/ports/redactor.ts";
import { errnoOf, messageOf } from "#base/errors.ts";
import { silentLog, type Log, type LogFields } from "#base/log.ts";
import type { ProcessLock } from "#base/process-lock.ts";

const FILE_MODE = 0o640;

export interface LogOptions {
  readonly home: string;
  readonly profile: string;
  /** `cli`, `dashboard`, …: the component of each line. */
  readonly component: string;
  /** `agent` is shared by processes; a service owns `gateway` or `gui` alone. */
  readonly file: "agent" | "gateway" | "gui";
  readonly settings: {
    readonly level: string;
    readonly max_size_mb: number;
    readonly backup_count: number;
  };
  readonly redactor: Redactor;
  /** Guards the rotation of files that several processes append to. */
  readonly lock: ProcessLock;
}

export interface LogFiles {
  readonly log: Log;
  /** The same files under another component's name. */
  component(name: string): Log;
  close(): Promise<void>;
}

/** Opens the files. Where logs/ cannot be written there is no log: a full disk must not stop a conversation. */
export async function openLogFiles(options: LogOptions): Promise<LogFiles> {
  const folder = join(options.home, "logs");
  const sinks: Sink[] = [];
  try {
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    sinks.push(
      options.file === "agent"
        ? await openShared(folder, "agent.log", options)
        : await openOwned(folder, `${options.file}.log`, options),
      await openShared(folder, "errors.log", options),
    );
  } catch {
    for (const sink of sinks) await sink.close();
    return { log: silentLog, component: () => silentLog, close: async () => undefined };
  }
  const logger = await makeLogger(options, sinks);
  const component = (name: string): Log =>
    facade(logger.child({ component: name }), options.redactor);
  return {
    log: component(options.component),
    component,
    close: async () => void (await Promise.all(sinks.map((sink) => sink.close()))),
  };
}

interface Sink {
  readonly stream: DestinationStream;
  close(): Promise<void>;
}

async function makeLogger(options: LogOptions, sinks: readonly Sink[]): Promise<Logger> {
  const { pino } = await import("./pino.ts");
  const level = pinoLevel(options.settings.level);
  const [own, errors] = sinks.map((sink) => sink.stream);
  const streams = [
    { level, stream: own as DestinationStream },
    { level: "warn" as const, stream: errors as DestinationStream },
  ];
  return pino(
    {
      level,
      base: { profile: options.profile, pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label === "warn" ? "warning" : label }) },
    },
    pino.multistream(streams),
  );
}

function pinoLevel(setting: string): "debug" | "info" | "warn" | "error" {
  const word = setting.toLowerCase();
  if (word === "debug" || word === "error") return word;
  return word === "warning" || word === "warn" ? "warn" : "info";
}

/** A file that several processes append to: rotated on opening, if it is full and nobody else rotates it right now. */
async function openShared(folder: string, name: string, options: LogOptions): Promise<Sink> {
  const path = join(folder, name);
  if (sizeOf(path) > options.settings.max_size_mb * 1024 * 1024) rotateShared(path, options);
  const { pino } = await import("./pino.ts");
  const stream = pino.destination({ dest: path, append: true, sync: true, mode: FILE_MODE });
  stream.on("error", () => undefined);
  return { stream, close: async () => stream.end() };
}

function rotateShared(path: string, options: LogOptions): void {
  const attempt = options.lock.take(join(options.home, "cache", "logs.lock"), "log rotation");
  if (!attempt.held) return;
  try {
    const last = options.settings.backup_count;
    rmSync(`${path}.${last}`, { force: true });
    for (let index = last - 1; index >= 1; index--)
      renameIfThere(`${path}.${index}`, `${path}.${index + 1}`);
    if (last > 0) renameIfThere(path, `${path}.1`);
  } finally {
    attempt.lock.release();
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** A file of one long process, which rotates it itself while it runs. */
async function openOwned(folder: string, name: string, options: LogOptions): Promise<Sink> {
  const { createStream } = await import("rotating-file-stream");
  const stream = createStream(name, {
    path: folder,
    size: `${options.settings.max_size_mb}M`,
    rotate: Math.max(1, options.settings.backup_count),
    mode: FILE_MODE,
  });
  stream.on("error", () => undefined);
  stream.on("warning", () => undefined);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      stream.once("close", resolve);
      stream.end();
    });
  return { stream, close };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function facade(logger: Logger, redactor: Redactor): Log {
  const write =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void => {
      try {
        logger[level](redactor.value(plain(fields)), redactor.text(message));
      } catch {
        // A log never fails its caller.
      }
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** Errors are no JSON: their code and sentence are. */
function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Error ? { code: errnoOf(value), message: messageOf(value) } : value,
    ]),
  );
}
