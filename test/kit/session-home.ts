// A session service over a temporary home: memory store, demo model, real tools.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock, type Clock } from "#base/clock.ts";
import { systemRandom } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { loadConfig } from "#config/load.ts";
import type { RunOverrides } from "#session/deps.ts";
import { openSessionService } from "#session/service.ts";
import type { NumberedEvent, SessionService } from "#session/types.ts";
import { createRedactor } from "#tools/redact.ts";
import { MemoryStore } from "./memory-store.ts";
import { tempDir } from "./temp-dir.ts";

export interface SessionHome {
  readonly home: string;
  readonly work: string;
  readonly store: SessionStore;
  readonly service: SessionService;
}

export interface SessionHomeOptions {
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly overrides?: RunOverrides;
  readonly store?: SessionStore;
  readonly remembered?: string[];
  readonly clock?: Clock;
}

export async function openSessionHome(
  t: TestContext,
  options: SessionHomeOptions = {},
): Promise<SessionHome> {
  const home = tempDir(t, "hermes-home");
  const work = join(home, "work");
  mkdirSync(work);
  writeFileSync(join(home, "config.yaml"), options.config ?? "model:\n  provider: demo\n");
  const processEnv = {
    HERMES_HOME: home,
    HERMES_DEMO_DELAY_MS: "1",
    PATH: process.env["PATH"] ?? "",
    ...options.env,
  };
  const loaded = loadConfig({ processEnv, home });
  const store = options.store ?? new MemoryStore();
  const service = await openSessionService({
    loaded: () => loaded,
    overrides: options.overrides ?? {},
    store,
    redactor: createRedactor(loaded.env.secrets(), true),
    clock: options.clock ?? systemClock,
    random: systemRandom,
    log: silentLog,
    processEnv: (name) => (processEnv as Record<string, string | undefined>)[name],
    inContainer: false,
    rememberAllowed: async (key) => void options.remembered?.push(key),
  });
  t.after(() => service.close("done"));
  return { home, work, store, service };
}

/** Collects what a viewer is shown. */
export async function watch(
  service: SessionService,
  sessionId: string,
  after: string | null = null,
) {
  const events: NumberedEvent[] = [];
  const subscription = await service.subscribe(sessionId, after, (event) => events.push(event));
  const text = (): string =>
    events.map(({ event }) => (event.type === "text-delta" ? event.text : "")).join("");
  return { events, text, close: () => subscription.close() };
}
