// Background processes of a session: at most 16, each with a redacted log file, all ended with the session (agent.md §5.1).
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { cutEnd } from "#base/text.ts";
import type { StreamRedactor } from "#agent/ports/redactor.ts";
import { ToolError } from "#agent/ports/tool.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { endEscaped, startGroup, type ProcessGroup } from "./process-group.ts";
import { newSpillPath, SPILL_LIMIT_BYTES } from "./spill.ts";
import { toolEnvironment } from "./tool-env.ts";

export const MAX_BACKGROUND = 16;
const TAIL_CHARS = 16_384;

export type BackgroundState = "running" | "exited" | "killed";

export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly pid: number;
  readonly logPath: string;
  readonly startedAt: number;
  readonly state: BackgroundState;
  readonly exitCode: number | null;
  /** Redacted text of the log. */
  log(): string;
  /** What came since the last call. */
  fresh(): string;
  write(data: string): Promise<void>;
  kill(): Promise<void>;
  /** Resolves at the end of the process. Never rejects. */
  readonly ended: Promise<void>;
}

export interface Background {
  start(command: string, cwd: string, notify: boolean): Promise<BackgroundProcess>;
  list(): readonly BackgroundProcess[];
  find(id: string): BackgroundProcess;
  /** Group ids of the running ones. */
  groups(): ReadonlySet<number>;
  close(): Promise<void>;
}

export function createBackground(deps: ToolBoxDeps): Background {
  const all = new Map<string, Entry>();
  let closed = false;
  let count = 0;
  const running = (): readonly Entry[] =>
    [...all.values()].filter((entry) => entry.state === "running");
  return {
    async start(command, cwd, notify) {
      if (closed)
        throw new ToolError("SESSION_CLOSED", "the session is ending; nothing new is started");
      if (running().length >= MAX_BACKGROUND) throw tooMany();
      const id = `proc-${++count}`;
      const group = await startGroup({
        command,
        cwd,
        env: toolEnvironment(deps, cwd),
        stdin: "pipe",
      });
      const entry = new Entry(id, command, group, deps, notify);
      all.set(id, entry);
      return entry;
    },
    list: () => [...all.values()],
    find(id) {
      const entry = all.get(id);
      if (!entry) throw unknownProcess(id, [...all.keys()]);
      return entry;
    },
    groups: () => new Set(running().map((entry) => entry.pid)),
    async close() {
      closed = true;
      await Promise.all(running().map((entry) => entry.kill()));
      await endEscaped(
        { sessionId: deps.sessionId, home: deps.home, keepGroups: new Set(), sinceTicks: 0 },
        deps.clock,
      );
    },
  };
}

function tooMany(): ToolError {
  return new ToolError(
    "TOO_MANY_PROCESSES",
    `${MAX_BACKGROUND} background processes run already; end one with process kill`,
  );
}

function unknownProcess(id: string, known: readonly string[]): ToolError {
  const names = known.length > 0 ? `known: ${known.join(", ")}` : "none was started";
  return new ToolError("NO_SUCH_PROCESS", `no background process ${JSON.stringify(id)}; ${names}`);
}

class Entry implements BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly pid: number;
  readonly logPath: string;
  readonly startedAt: number;
  readonly ended: Promise<void>;
  state: BackgroundState = "running";
  exitCode: number | null = null;
  readonly #group: ProcessGroup;
  readonly #deps: ToolBoxDeps;
  readonly #redact: StreamRedactor;
  readonly #decoder = new StringDecoder("utf8");
  readonly #file: number;
  #written = 0;
  #tail = "";
  #fresh = "";

  constructor(
    id: string,
    command: string,
    group: ProcessGroup,
    deps: ToolBoxDeps,
    notify: boolean,
  ) {
    this.id = id;
    this.command = command;
    this.pid = group.pid;
    this.startedAt = deps.clock.now();
    this.logPath = newSpillPath(deps.home, deps.clock, "log");
    this.#file = openSync(this.logPath, "w", 0o600);
    this.#group = group;
    this.#deps = deps;
    this.#redact = deps.redactor.stream();
    group.stdin?.on("error", () => undefined);
    group.output.on("data", (chunk: Buffer) =>
      this.#append(this.#redact.push(this.#decoder.write(chunk))),
    );
    group.output.on("error", () => undefined);
    this.ended = this.#watch(notify);
  }

  async #watch(notify: boolean): Promise<void> {
    const exit = await this.#group.exited;
    await this.#group.settle(this.#deps.clock);
    this.#append(this.#redact.push(this.#decoder.end()) + this.#redact.flush());
    closeSync(this.#file);
    if (this.state === "running") this.state = "exited";
    this.exitCode = exit.code;
    if (notify) this.#deps.onProcessEnd(this.id, exit.code, cutEnd(this.#tail, 2000));
  }

  #append(text: string): void {
    if (text === "") return;
    this.#tail = cutEnd(this.#tail + text, TAIL_CHARS);
    this.#fresh = cutEnd(this.#fresh + text, 8 * TAIL_CHARS);
    const bytes = Buffer.from(text, "utf8");
    const room = SPILL_LIMIT_BYTES - this.#written;
    if (room <= 0) return;
    this.#written += writeSync(this.#file, bytes.subarray(0, room));
  }

  log(): string {
    return readFileSync(this.logPath, "utf8");
  }

  fresh(): string {
    const text = this.#fresh;
    this.#fresh = "";
    return text;
  }

  write(data: string): Promise<void> {
    const { stdin } = this.#group;
    if (this.state !== "running" || !stdin?.writable) {
      return Promise.reject(new ToolError("PROCESS_ENDED", `${this.id} does not run any more`));
    }
    return new Promise((resolve) => {
      stdin.write(data, () => resolve());
    });
  }

  async kill(): Promise<void> {
    if (this.state !== "running") return;
    this.state = "killed";
    await this.#group.end(this.#deps.clock);
    await this.ended;
  }
}
