// A command on a real terminal: util-linux `script` opens the pty, 100 columns by 30 rows.
import { spawn, spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { environment, LAUNCHER, type CliOptions } from "./cli.ts";

export interface Terminal {
  /** As if typed: `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D. */
  type(text: string): void;
  /** Everything shown so far, without control sequences. */
  shown(): string;
  /** The same, as it came. */
  raw(): string;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

/** Reason why this machine has no pty for tests, or null. */
export function noPty(): string | null {
  const found = spawnSync("script", ["--version"], { encoding: "utf8" });
  return found.status === 0 && found.stdout.includes("util-linux")
    ? null
    : "util-linux script is not installed";
}

export function openTerminal(args: readonly string[], options: CliOptions): Terminal {
  const words = [process.execPath, "--conditions=hermes-source", LAUNCHER, ...args];
  const line = `stty cols 100 rows 30; exec ${words.map(quote).join(" ")}`;
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: options.cwd ?? options.home,
    env: { ...environment(options), TERM: "xterm-256color", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let raw = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (raw += text));
  child.stdin.on("error", () => undefined);
  return {
    type: (text) => void child.stdin.write(text),
    shown: () => stripVTControlCharacters(raw).replaceAll("\r", ""),
    raw: () => raw,
    signal: (name) => void child.kill(name),
    ended: new Promise((resolve) => {
      child.once("close", (code) => resolve(code));
    }),
  };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
