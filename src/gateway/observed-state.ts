// What this gateway says of itself: `gateway_state.json`, written at each change and every 60 s (agent.md §7.3).
import type { Clock, Timer } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { messageOf } from "#base/errors.ts";
import type { ProcessIdentity } from "#base/process-identity.ts";
import type { GatewayState } from "#protocol/http-status.ts";
import type { PlatformStateName, PlatformTrouble } from "./platform.ts";

const HEARTBEAT_MS = 60_000;
/** Turns come and go many times a second; the file follows a little later. */
const COUNT_DELAY_MS = 500;

export interface PlatformRecord {
  readonly state: PlatformStateName;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly updated_at: string;
  readonly retry_at?: string;
}

/** Fields of container.md §9 that the gateway itself writes. Stamps are ISO 8601. */
export interface ObservedRecord {
  readonly pid: number;
  readonly start_time: string;
  readonly kind: "hermes-gateway";
  readonly argv: readonly string[];
  readonly gateway_state: GatewayState;
  readonly exit_reason: string | null;
  readonly restart_requested: boolean;
  readonly active_agents: number;
  readonly platforms: Readonly<Record<string, PlatformRecord>>;
  /** Why it is degraded, one sentence each. */
  readonly reasons: readonly string[];
  readonly served_profiles: readonly string[];
  readonly updated_at: string;
  readonly desired_state: "running" | "stopped";
}

export interface ObservedDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly identity: ProcessIdentity;
  readonly argv: readonly string[];
  readonly profile: string;
  /** The stored desired state as it is now; null when there is none. */
  readonly desired: () => "running" | "stopped" | null;
  readonly write: (record: ObservedRecord) => void;
  readonly redact: (text: string) => string;
}

/** Writes are synchronous, hence in order. One that fails is logged once and tried again at the next change. */
export class ObservedState {
  readonly #deps: ObservedDeps;
  #state: GatewayState = "starting";
  #platforms: Record<string, PlatformRecord> = {};
  #reasons: readonly string[] = [];
  #exitReason: string | null = null;
  #isRestart = false;
  #active = 0;
  #timer: Timer | null = null;
  #lateCount: Timer | null = null;
  #hasFailed = false;

  constructor(deps: ObservedDeps) {
    this.#deps = deps;
  }

  get state(): GatewayState {
    return this.#state;
  }

  get platforms(): Readonly<Record<string, PlatformRecord>> {
    return this.#platforms;
  }

  /** Throws what the first write throws: a home that cannot be written is refused. */
  start(): void {
    this.#write();
    this.#beat();
  }

  set(state: GatewayState, reasons: readonly string[] = []): void {
    this.#state = state;
    this.#reasons = reasons.map((reason) => this.#deps.redact(reason));
    this.#save();
  }

  platform(name: string, state: PlatformStateName, trouble?: PlatformTrouble): void {
    const { clock, redact } = this.#deps;
    this.#platforms = {
      ...this.#platforms,
      [name]: {
        state,
        error_code: trouble?.code ?? null,
        error_message: trouble === undefined ? null : redact(trouble.message),
        updated_at: iso(clock.now()),
        ...(trouble?.retryAt === undefined ? {} : { retry_at: iso(trouble.retryAt) }),
      },
    };
    this.#save();
  }

  turns(active: number): void {
    this.#active = active;
    this.#lateCount ??= this.#deps.clock.after(COUNT_DELAY_MS, () => {
      this.#lateCount = null;
      this.#save();
    });
  }

  draining(options: { readonly isRestart: boolean }): void {
    this.#isRestart = options.isRestart;
    this.set("draining");
  }

  /** The last word: nothing is written after it. */
  end(state: "stopped" | "startup_failed", exitReason: string): void {
    this.#timer?.cancel();
    this.#lateCount?.cancel();
    const stopped = iso(this.#deps.clock.now());
    this.#platforms = Object.fromEntries(
      Object.entries(this.#platforms).map(([name, record]) => [name, ended(record, stopped)]),
    );
    this.#active = 0;
    this.#exitReason = this.#deps.redact(exitReason);
    this.set(state);
  }

  #beat(): void {
    this.#timer = this.#deps.clock.after(HEARTBEAT_MS, () => {
      this.#save();
      this.#beat();
    });
  }

  #save(): void {
    try {
      this.#write();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        this.#deps.log.warn("gateway_state.json cannot be written", { reason: messageOf(error) });
      this.#hasFailed = true;
    }
  }

  #write(): void {
    const { identity, argv, profile, clock, desired, write } = this.#deps;
    write({
      pid: identity.pid,
      start_time: identity.startTime,
      kind: "hermes-gateway",
      argv,
      gateway_state: this.#state,
      exit_reason: this.#exitReason,
      restart_requested: this.#isRestart,
      active_agents: this.#active,
      platforms: this.#platforms,
      reasons: this.#reasons,
      served_profiles: [profile],
      updated_at: iso(clock.now()),
      desired_state: desired() ?? "running",
    });
  }
}

/** A refusal or a fatal error stays readable after the end. */
function ended(record: PlatformRecord, at: string): PlatformRecord {
  const isOver = ["connected", "connecting", "retrying", "conflict"].includes(record.state);
  return isOver ? { ...record, state: "stopped", updated_at: at } : record;
}

const iso = (ms: number): string => new Date(ms).toISOString();
