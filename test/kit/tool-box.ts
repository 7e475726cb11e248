// What a test needs to run tools for real: a home, a working directory, deps with defaults, a context that records.
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { Question, Tool, ToolBox, ToolContext, ToolResult } from "#agent/ports/tool.ts";
import { createToolBox, type ToolBoxDeps, type ToolSettings } from "#tools/box.ts";
import { createRedactor } from "#tools/redact.ts";
import { tempDir } from "./temp-dir.ts";

export const toolSettings: ToolSettings = {
  terminal: {
    timeout: 180,
    max_timeout: 600,
    output_limit_chars: 30_000,
    env_passthrough: [],
    home_mode: "auto",
  },
  web: { backend: "auto", searxng_url: "", max_page_chars: 15_000 },
  security: { allow_private_urls: false },
  memory: {
    memory_enabled: true,
    user_profile_enabled: true,
    memory_char_limit: 2200,
    user_char_limit: 1375,
  },
  approvals: { deny: [] },
  command_allowlist: [],
  agent: { disabled_toolsets: [] },
  custom_toolsets: {},
};

const noStore = new Proxy({} as SessionStore, {
  get: (_target, name) => () =>
    Promise.reject(new Error(`this test has no store (${String(name)})`)),
});

export interface ToolBench {
  readonly home: string;
  readonly cwd: string;
  readonly deps: ToolBoxDeps;
  readonly box: ToolBox;
  /** Parses, then runs; throws when the input does not fit. */
  run(name: string, input: unknown, options?: Partial<BenchContext>): Promise<BenchResult>;
  tool(name: string): Tool;
}

export interface BenchContext {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly answer: string | null;
  readonly onOutput: (stream: string, text: string) => void;
}

export interface BenchResult extends ToolResult {
  /** The content, parsed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into results of every tool
  readonly json: any;
  /** The working directory after the call. */
  readonly cwd: string;
}

export interface BenchOptions extends Partial<Omit<ToolBoxDeps, "env">> {
  readonly secrets?: ReadonlyMap<string, string>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A box over a fresh home and working directory; closed when the test ends. */
export function toolBench(t: Pick<TestContext, "after">, options: BenchOptions = {}): ToolBench {
  const base = realpathSync(tempDir(t, "tools"));
  const home = options.home ?? join(base, "home");
  const cwd = join(base, "work");
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true });
  const { secrets = new Map<string, string>(), env: given = {}, ...rest } = options;
  const env: Readonly<Record<string, string>> = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: base,
    ...given,
  };
  const deps: ToolBoxDeps = {
    home,
    root: home,
    profile: "default",
    settings: toolSettings,
    toolsets: ["hermes-cli"],
    inContainer: false,
    safeRoots: [],
    store: noStore,
    redactor: createRedactor(secrets, true),
    clock: systemClock,
    log: silentLog,
    unattended: false,
    sessionId: `session-${base.split("-").at(-1) ?? ""}`,
    rememberAllowed: () => Promise.resolve(),
    onProcessEnd: () => undefined,
    ...rest,
    env: (name) => env[name],
  };
  const box = createToolBox(deps);
  t.after(() => box.close());
  return { home, cwd, deps, box, tool: (name) => find(box, name), run: runner(deps, box, cwd) };
}

function find(box: ToolBox, name: string): Tool {
  const tool = box.find(name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

function runner(deps: ToolBoxDeps, box: ToolBox, start: string): ToolBench["run"] {
  let calls = 0;
  let cwd = start;
  return async (name, input, options = {}) => {
    const tool = find(box, name);
    const parsed = tool.parse(input);
    if (!parsed.ok) throw new Error(`input of ${name}: ${parsed.issues}`);
    const context: ToolContext = {
      sessionId: deps.sessionId,
      turnId: "turn-1",
      callId: `call-${++calls}`,
      cwd: options.cwd ?? cwd,
      setCwd: (path) => void (cwd = path),
      signal: options.signal ?? new AbortController().signal,
      clock: deps.clock,
      output: (stream, text) => options.onOutput?.(stream, text),
      ask: (_question: Question) => Promise.resolve(options.answer ?? null),
      unattended: deps.unattended,
    };
    const result = await box.execute(tool, parsed.value, context);
    return { ...result, json: JSON.parse(result.content), cwd };
  };
}
