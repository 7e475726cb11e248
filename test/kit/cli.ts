// Real processes of the command line, from the sources whatever lies in dist/.
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";

export const PROJECT = join(import.meta.dirname, "..", "..");
export const LAUNCHER = join(PROJECT, "bin", "hermes.mjs");

export interface CliOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text for stdin; nothing: an empty stdin. */
  readonly input?: string;
  readonly cwd?: string;
  /** Another program than the running Node. */
  readonly node?: string;
  readonly uid?: number;
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A started command with what it printed so far. */
export interface CliProcess {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<CliResult>;
}

export function startCli(args: readonly string[], options: CliOptions): CliProcess {
  const child = spawn(
    options.node ?? process.execPath,
    ["--conditions=hermes-source", LAUNCHER, ...args],
    {
      cwd: options.cwd ?? options.home,
      env: environment(options),
      stdio: ["pipe", "pipe", "pipe"],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.input ?? "");
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).ended;
}

/** Only what a command needs: the keys of whoever runs the tests must not decide them. */
export function environment(options: Pick<CliOptions, "home" | "env">): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: options.home,
    LANG: "C.UTF-8",
    TZ: "UTC",
    HERMES_HOME: options.home,
    HERMES_DEMO_DELAY_MS: "0",
    ...options.env,
  };
}
