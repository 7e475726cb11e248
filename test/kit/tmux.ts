// A program in a real terminal emulator: tmux keeps the screen, so that what a person sees can be read (agent.md §10).
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "./until.ts";

const WAIT_MS = 30_000;
let count = 0;

/** Reason why this machine has no tmux, or null. */
export function noTmux(): string | null {
  return spawnSync("tmux", ["-V"]).status === 0 ? null : "tmux is not installed";
}

export interface TmuxOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export class Tmux {
  readonly #socket = `hermes-test-${process.pid}-${++count}`;
  readonly #env: NodeJS.ProcessEnv;
  /** Holds the exit code in the end. */
  readonly #code: string;

  /** A server of its own, ended with the test; the pane stays when its program has ended. */
  constructor(
    t: { after(run: () => void): void },
    argv: readonly string[],
    { columns = 100, rows = 30, cwd, env }: TmuxOptions,
  ) {
    this.#env = env;
    const end = (): void => void spawnSync("tmux", ["-L", this.#socket, "kill-server"], { env });
    t.after(end);
    // A hook that fails takes the later ones with it.
    process.once("exit", end);
    const size = ["-x", String(columns), "-y", String(rows)];
    this.#code = join(mkdtempSync(join(tmpdir(), "hermes-tmux-")), "code");
    t.after(() => rmSync(dirname(this.#code), { recursive: true, force: true }));
    // tmux itself forgets the code of a program that closes its terminal first.
    const line = `${argv.map(quote).join(" ")}; echo $? >${quote(this.#code)}`;
    this.#run("-f", "/dev/null", "new-session", "-d", ...size, "-c", cwd, "sh");
    this.#run("set-option", "-g", "remain-on-exit", "on");
    this.#run("set-option", "-g", "history-limit", "20000");
    this.#run("respawn-pane", "-k", "-c", cwd, line);
  }

  #run(...words: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.#socket, ...words], {
      encoding: "utf8",
      env: this.#env,
    });
  }

  /** Names of keys as tmux has them: `Enter`, `C-c`, `Up`, `M-Enter`. */
  keys(...names: readonly string[]): void {
    this.#run("send-keys", ...names);
  }

  /** As typed, character by character of one read. */
  type(text: string): void {
    this.#run("send-keys", "-l", "--", text);
  }

  /** A bracketed paste where the program asked for it. */
  paste(text: string): void {
    this.#run("set-buffer", "--", text);
    this.#run("paste-buffer", "-p");
  }

  resize(columns: number, rows: number): void {
    this.#run("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Rows of the screen, without blanks at their ends. */
  screen(): string {
    return this.#run("capture-pane", "-p");
  }

  /** The screen with everything that scrolled away; rows that the terminal wrapped are joined. */
  everything(): string {
    return this.#run("capture-pane", "-p", "-J", "-S", "-");
  }

  /** A format of tmux, `#{pane_title}`. */
  ask(format: string): string {
    return this.#run("display-message", "-p", format).trimEnd();
  }

  /** Waits until the screen matches. */
  async see(what: RegExp | string): Promise<void> {
    const isThere = () =>
      typeof what === "string" ? this.screen().includes(what) : what.test(this.screen());
    await until(`${String(what)} on the screen`, isThere, WAIT_MS).catch((error: unknown) => {
      throw new Error(`not seen: ${String(what)}\n--- screen\n${this.screen()}`, { cause: error });
    });
  }

  /** Exit code of the program; waits for its end. */
  async code(): Promise<number> {
    const isOver = () => existsSync(this.#code) && readFileSync(this.#code, "utf8").trim();
    return Number(await until("the program's end", isOver, WAIT_MS));
  }
}

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
