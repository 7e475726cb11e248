// A gateway in this process: fake clock, lock, signals, files and platforms.
import { EventEmitter } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { HermesError } from "#base/errors.ts";
import type { ExitCode } from "#base/exit-codes.ts";
import { silentLog } from "#base/log.ts";
import { loadConfig } from "#config/load.ts";
import type { GatewayDeps, GatewayFiles, PidRecord } from "#gateway/deps.ts";
import type { ObservedRecord } from "#gateway/observed-state.ts";
import type { Platform, PlatformContext, PlatformSpec } from "#gateway/platform.ts";
import { runGateway } from "#gateway/run.ts";
import type { SessionService } from "#session/types.ts";
import type { PlannedIntent } from "#supervisor/service-files.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeLock } from "./fake-lock.ts";
import { MemoryStore } from "./memory-store.ts";
import { tempDir } from "./temp-dir.ts";

export const SELF = { pid: 4711, startTime: "99", host: "here" };

/** Files in memory; `records` is every state that was written. */
export class FakeFiles implements GatewayFiles {
  readonly records: ObservedRecord[] = [];
  pid: PidRecord | null = null;
  planned: PlannedIntent | null = null;
  wanted: "running" | "stopped" | null = null;
  running: ReturnType<GatewayFiles["readRunning"]> = null;
  failWith: Error | null = null;

  get last(): ObservedRecord | undefined {
    return this.records.at(-1);
  }
  writeObserved(record: ObservedRecord): void {
    if (this.failWith) throw this.failWith;
    this.records.push(record);
  }
  writePid(record: PidRecord): void {
    if (this.failWith) throw this.failWith;
    this.pid = record;
  }
  removePid(): void {
    this.pid = null;
  }
  readRunning(): ReturnType<GatewayFiles["readRunning"]> {
    return this.running;
  }
  holder(fromLock: Parameters<GatewayFiles["holder"]>[0]): ReturnType<GatewayFiles["holder"]> {
    return { pid: fromLock?.pid ?? null, host: fromLock?.host ?? null, since: null };
  }
  desired(): "running" | "stopped" | null {
    return this.wanted;
  }
  markPlanned(): void {
    // The other one's record is not ours to look at here.
  }
  takePlanned(): PlannedIntent | null {
    return this.planned;
  }
}

export interface GatewayRun {
  readonly home: string;
  readonly clock: FakeClock;
  readonly lock: FakeLock;
  readonly signals: EventEmitter;
  readonly files: FakeFiles;
  readonly said: string[];
  readonly readied: string[];
  readonly ended: Promise<ExitCode>;
}

export interface RunOptions {
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly platforms?: readonly PlatformSpec[];
  readonly slot?: string;
  readonly lock?: FakeLock;
  readonly files?: FakeFiles;
  readonly sessions?: () => Promise<SessionService>;
  readonly change?: (deps: GatewayDeps) => GatewayDeps;
}

export function startGateway(t: TestContext, options: RunOptions = {}): GatewayRun {
  const home = tempDir(t, "hermes-gateway");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), options.config ?? "model:\n  provider: demo\n");
  const loaded = loadConfig({ processEnv: { HERMES_HOME: home, ...options.env }, home });
  const clock = new FakeClock();
  const lock = options.lock ?? new FakeLock();
  const files = options.files ?? new FakeFiles();
  const signals = new EventEmitter();
  const said: string[] = [];
  const readied: string[] = [];
  const store = new MemoryStore();
  const deps: GatewayDeps = {
    loaded: () => loaded,
    argv: ["hermes", "gateway", "run"],
    self: SELF,
    uid: 1000,
    replace: false,
    slot:
      options.slot === undefined
        ? null
        : { name: options.slot, ready: () => void readied.push(files.last?.gateway_state ?? "") },
    files,
    lock,
    clock,
    log: silentLog,
    signals,
    platforms: options.platforms ?? [],
    openStore: async () => ({
      archive: store,
      deliveries: { isNew: async () => true, forget: async () => undefined },
      recover: async () => 0,
      openSessions:
        options.sessions ?? (() => Promise.reject(new HermesError("TEST", "no sessions here"))),
      close: async () => undefined,
    }),
    modelTrouble: () => null,
    redact: (text) => text,
    say: (text) => void said.push(text),
  };
  const ended = runGateway(options.change?.(deps) ?? deps);
  ended.catch(() => undefined);
  return { home, clock, lock, signals, files, said, readied, ended };
}

type Connect = (context: PlatformContext, signal: AbortSignal) => Promise<void> | void;

/** A platform that does what the test says; `contexts` are those of its connects. */
export class FakePlatform implements Platform {
  readonly name: string;
  readonly contexts: PlatformContext[] = [];
  disconnects = 0;
  readonly #connect: Connect;

  constructor(name: string, connect: Connect) {
    this.name = name;
    this.#connect = connect;
  }
  get spec(): PlatformSpec {
    return { name: this.name, isEnabled: () => true, open: async () => this };
  }
  async connect(context: PlatformContext, signal: AbortSignal): Promise<void> {
    this.contexts.push(context);
    await this.#connect(context, signal);
  }
  async disconnect(): Promise<void> {
    this.disconnects += 1;
  }
}
