// A real dashboard on port 0: real routes, sessions, configuration and lock; store in memory, demo model, scripted model helpers.
import { closeSync, mkdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { collectProviders } from "#auth/providers/collect.ts";
import { createRegistry, type Offer } from "#auth/providers/registry.ts";
import { readProviderSettings } from "#auth/providers/settings.ts";
import { type Clock, systemClock } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import { systemRandom } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { loadConfig } from "#config/load.ts";
import type {
  DashboardDeps,
  ModelHelpers,
  ModelTestResult,
  ProfileServices,
  RunningDashboard,
} from "#dashboard/deps.ts";
import { type DashboardFlags, readDashboardSettings } from "#dashboard/settings.ts";
import { startDashboard } from "#dashboard/start.ts";
import { openSessionService } from "#session/service.ts";
import { fakeServices } from "./fake-services.ts";
import { fakeTerminals } from "./fake-terminals.ts";
import type { ServiceDesk } from "#dashboard/deps.ts";
import type { TerminalHost } from "#dashboard/pty-port.ts";
import { createProcessLock } from "#store/process-lock.ts";
import { createRedactor } from "#tools/redact.ts";
import { type Answer, ask, type Question } from "./http.ts";
import { MemoryStore } from "./memory-store.ts";
import { tempDir } from "./temp-dir.ts";

export const LOCAL_TOKEN = "local-token-0123456789abcdef";

export interface DashboardOptions {
  readonly home?: string;
  /** config.yaml of the default profile; the demo model unless given. */
  readonly config?: string;
  readonly dotEnv?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: DashboardFlags;
  readonly clock?: Clock;
  readonly profiles?: readonly string[];
  readonly webDist?: string;
  readonly readyFd?: number;
  readonly services?: ServiceDesk;
  readonly terminals?: TerminalHost;
  readonly demoDelayMs?: number;
  readonly test?: ModelTestResult;
  /** Login providers; those of the settings unless given. */
  readonly offers?: readonly Offer[];
}

export interface TestDashboard {
  readonly running: RunningDashboard;
  readonly url: string;
  readonly home: string;
  readonly token: string;
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
  readonly logLines: readonly string[];
  readonly stores: ReadonlyMap<string, MemoryStore>;
  readonly profiles: ReadonlyMap<string, ProfileServices>;
  /** Without a credential. */
  stranger(path: string, question?: Question): Promise<Answer>;
  /** With the local token. */
  ask(path: string, question?: Question): Promise<Answer>;
}

export interface PreparedDashboard extends Omit<
  TestDashboard,
  "running" | "url" | "stranger" | "ask"
> {
  readonly deps: DashboardDeps;
}

/** Everything but the start, for tests of starts that fail. */
export async function prepareDashboard(
  t: TestContext,
  options: DashboardOptions = {},
): Promise<PreparedDashboard> {
  const home = options.home ?? tempDir(t, "hermes-home");
  const processEnv = {
    HERMES_HOME: home,
    HERMES_DEMO_DELAY_MS: String(options.demoDelayMs ?? 1),
    HERMES_DASHBOARD_SESSION_TOKEN: LOCAL_TOKEN,
    ...options.env,
  };
  const [lines, warnings, logLines]: string[][] = [[], [], []];
  const stores = new Map<string, MemoryStore>();
  const profiles = new Map<string, ProfileServices>();
  const clock = options.clock ?? systemClock;
  const log = recordingLog(logLines ?? []);
  const paths = { default: home } as Record<string, string>;
  for (const name of options.profiles ?? []) paths[name] = join(home, "profiles", name);
  for (const [name, path] of Object.entries(paths)) {
    mkdirSync(path, { recursive: true });
    const text = name === "default" ? options.config : undefined;
    writeFileSync(join(path, "config.yaml"), text ?? "model:\n  provider: demo\n  default: demo\n");
    if (name === "default" && options.dotEnv !== undefined) {
      writeFileSync(join(path, ".env"), options.dotEnv, { mode: 0o600 });
    }
    const store = new MemoryStore();
    stores.set(name, store);
    profiles.set(name, await openProfile(name, path, processEnv, store, clock, log, options));
  }
  t.after(async () => {
    for (const profile of profiles.values()) await profile.sessions.close("done");
  });
  const first = profiles.get("default");
  if (!first) throw new Error("no default profile");
  const flags = { port: "0", ...options.flags };
  const { settings, problems } = readDashboardSettings(first.loaded(), flags);
  if (!settings) throw new Error(problems.map(({ message }) => message).join("\n"));
  const deps: DashboardDeps = {
    services: options.services ?? fakeServices(),
    settings,
    home,
    version: "0.0.1-test",
    releaseDate: "2026-01-15",
    profiles: directoryOf(profiles, paths),
    providers: createRegistry(
      options.offers ??
        collectProviders(readProviderSettings(first.loaded()), {
          clock,
          random: systemRandom,
          log,
        }),
      log,
    ),
    lock: createProcessLock(),
    terminals: options.terminals ?? fakeTerminals(),
    processEnv,
    clock,
    random: systemRandom,
    log,
    redact: (text) => first.redactor.text(text),
    webDist: options.webDist ?? writeWebDist(tempDir(t, "hermes-web")),
    auditLog: { maxBytes: 5 * 1024 * 1024, backups: 3 },
    whenReady() {
      if (options.readyFd === undefined) return;
      writeSync(options.readyFd, "\n");
      closeSync(options.readyFd);
    },
    print: (line) => void lines?.push(line),
    warn: (line) => void warnings?.push(line),
  };
  return {
    deps,
    home,
    token: LOCAL_TOKEN,
    lines: lines ?? [],
    warnings: warnings ?? [],
    logLines: logLines ?? [],
    stores,
    profiles,
  };
}

export async function openDashboard(
  t: TestContext,
  options: DashboardOptions = {},
): Promise<TestDashboard> {
  const { deps, ...prepared } = await prepareDashboard(t, options);
  const running = await startDashboard(deps);
  t.after(() => running.stop());
  const { url } = running;
  return {
    ...prepared,
    running,
    url,
    stranger: (path, question) => ask(`${url}${path}`, question),
    ask: (path, question = {}) =>
      ask(`${url}${path}`, {
        ...question,
        headers: { "x-hermes-session-token": LOCAL_TOKEN, ...question.headers },
      }),
  };
}

async function openProfile(
  name: string,
  home: string,
  processEnv: Readonly<Record<string, string>>,
  store: MemoryStore,
  clock: Clock,
  log: Log,
  options: DashboardOptions,
): Promise<ProfileServices> {
  let loaded = loadConfig({ processEnv, home });
  const redactor = createRedactor(loaded.env.secrets(), true);
  const sessions = await openSessionService({
    loaded: () => loaded,
    overrides: {},
    store,
    redactor,
    clock: systemClock,
    random: systemRandom,
    log,
    processEnv: (variable) => processEnv[variable],
    inContainer: false,
    rememberAllowed: async () => undefined,
  });
  const reload = () => (loaded = loadConfig({ processEnv, home }));
  const models = helpersOf(() => loaded.config.model, options);
  return { name, home, loaded: () => loaded, reload, sessions, archive: store, redactor, models };
}

function helpersOf(
  model: () => { readonly provider: string; readonly default: string },
  options: DashboardOptions,
): ModelHelpers {
  return {
    info: () => ({
      model: model().default,
      provider: model().provider,
      auto_context_length: 32768,
      config_context_length: 0,
      effective_context_length: 32768,
      capabilities: {},
    }),
    readiness: () =>
      model().provider === "auto"
        ? { ready: false, reason: "No model is configured" }
        : { ready: true, provider: model().provider, model: model().default, demo: true },
    isProvider: (id) => id !== "nobody",
    options: async () => ({ providers: [] }),
    detectLocalServers: async () => [
      { kind: "ollama", base_url: "http://127.0.0.1:11434", models: ["llama3"] },
    ],
    test: async ({ provider, model: id }) =>
      options.test ?? {
        ok: true,
        provider,
        model: id ?? "some-model",
        contextWindow: 128_000,
        latencyMs: 12.4,
        keyName: provider === "openai" ? "OPENAI_API_KEY" : null,
      },
  };
}

/** What changes a profile is tested with the real one: test/e2e/profile-api.test.ts. */
async function unknownProfile(name: string): Promise<never> {
  throw new HermesError("PROFILE_NOT_FOUND", `There is no profile ${name}.`);
}

function noDefault(): never {
  throw new Error("no default profile");
}

function directoryOf(
  profiles: ReadonlyMap<string, ProfileServices>,
  paths: Readonly<Record<string, string>>,
): DashboardDeps["profiles"] {
  const homeOf = (name: string): string => {
    const home = paths[name];
    if (home !== undefined) return home;
    throw new HermesError("PROFILE_NOT_FOUND", `There is no profile ${name}.`);
  };
  return {
    async open(name = "default") {
      const found = profiles.get(name);
      if (found) return found;
      throw new HermesError("PROFILE_UNKNOWN", `There is no profile ${name}.`);
    },
    glance: () => profiles.get("default") ?? noDefault(),
    change: unknownProfile,
    remove: unknownProfile,
    register: unknownProfile,
    use: (name) => void homeOf(name),
    homeOf,
    opened: () => [...profiles.values()],
    list: async () =>
      Object.entries(paths).map(([name, path]) => ({
        name,
        path,
        is_default: name === "default",
        active: name === "default",
        model: "demo",
        provider: "demo",
        has_env: false,
        skill_count: 0,
      })),
    async create({ name }) {
      if (name in paths) throw new HermesError("PROFILE_EXISTS", `Profile ${name} exists.`);
      return { ok: true, name, path: "/x", service: { registered: false, detail: null } };
    },
  };
}

/** A build as Vite makes it, small. */
export function writeWebDist(folder: string): string {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><html><head><link rel="stylesheet" href="./assets/app-DEADBEEF.css">' +
      '<script type="module" src="./assets/app-DEADBEEF.js"></script></head><body></body></html>',
  );
  writeFileSync(join(folder, "assets", "app-DEADBEEF.js"), `console.log(${"1+".repeat(1000)}1);`);
  writeFileSync(join(folder, "assets", "app-DEADBEEF.css"), "body{}");
  writeFileSync(join(folder, "favicon.ico"), "icon");
  writeFileSync(join(folder, ".hidden"), "secret");
  return folder;
}

function recordingLog(lines: string[]): Log {
  const write = (message: string, fields?: object): void =>
    void lines.push(fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
  return { debug: write, info: write, warn: write, error: write };
}
