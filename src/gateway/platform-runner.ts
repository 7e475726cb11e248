// Connects the enabled platforms all at once and keeps what each says of itself (agent.md §7.1 steps 6 and 7).
import { messageOf } from "#base/errors.ts";
import type { ObservedState, PlatformRecord } from "./observed-state.ts";
import type { Platform, PlatformContext, PlatformSpec, PlatformStateName } from "./platform.ts";
import { endsWithin } from "./within.ts";

const DISCONNECT_MS = 1000;

export interface RunnerDeps {
  readonly specs: readonly PlatformSpec[];
  readonly observed: ObservedState;
  readonly context: Omit<PlatformContext, "state" | "log"> & Pick<PlatformContext, "log">;
  readonly connectMs: number;
  /** Called after every change of a platform's state. */
  changed(): void;
}

export class PlatformRunner {
  readonly #deps: RunnerDeps;
  readonly #open: Platform[] = [];
  readonly #ending = new AbortController();

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** Resolves when every enabled platform has settled. A platform that fails never keeps the others. */
  async connectAll(): Promise<void> {
    const loaded = this.#deps.context.loaded();
    const enabled = this.#deps.specs.filter((spec) => {
      const isEnabled = spec.isEnabled(loaded);
      if (!isEnabled) this.#report(spec.name, "disabled");
      return isEnabled;
    });
    await Promise.all(enabled.map((spec) => this.#connect(spec)));
  }

  async disconnectAll(): Promise<void> {
    this.#ending.abort(new Error("the gateway is ending"));
    const { clock } = this.#deps.context;
    await Promise.all(
      this.#open.map((platform) => endsWithin(clock, DISCONNECT_MS, platform.disconnect())),
    );
  }

  async #connect(spec: PlatformSpec): Promise<void> {
    const { context, connectMs } = this.#deps;
    const late = new AbortController();
    this.#report(spec.name, "connecting");
    const work = this.#openAndConnect(spec, AbortSignal.any([late.signal, this.#ending.signal]));
    if (await endsWithin(context.clock, connectMs, work)) return;
    late.abort(new Error("the login took too long"));
    if (this.#stateOf(spec.name) === "connecting") {
      const message = `not connected after ${connectMs / 1000} s (gateway.platform_connect_timeout)`;
      this.#report(spec.name, "fatal", { code: "CONNECT_TIMEOUT", message });
    }
  }

  async #openAndConnect(spec: PlatformSpec, signal: AbortSignal): Promise<void> {
    const { context } = this.#deps;
    try {
      const platform = await spec.open();
      this.#open.push(platform);
      await platform.connect(
        { ...context, state: (...report) => this.#report(spec.name, ...report) },
        signal,
      );
    } catch (error) {
      context.log.error(`${spec.name} failed`, { platform: spec.name, error });
      this.#report(spec.name, "fatal", { code: "PLATFORM_FAILED", message: messageOf(error) });
    }
  }

  #stateOf(name: string): PlatformRecord["state"] | undefined {
    return this.#deps.observed.platforms[name]?.state;
  }

  #report(name: string, ...report: Parameters<PlatformContext["state"]>): void {
    const [state, trouble] = report;
    if (this.#ending.signal.aborted) return;
    this.#deps.observed.platform(name, state, trouble);
    this.#tell(name, state, trouble?.message);
    this.#deps.changed();
  }

  #tell(name: string, state: PlatformStateName, message: string | undefined): void {
    const { log } = this.#deps.context;
    const text = message === undefined ? `${name}: ${state}` : `${name}: ${state}: ${message}`;
    if (TROUBLES.has(state)) log.warn(text, { platform: name });
    else log.debug(text, { platform: name });
  }
}

const TROUBLES: ReadonlySet<PlatformStateName> = new Set([
  "retrying",
  "conflict",
  "fatal",
  "refused",
]);

/** Why the gateway is degraded by its platforms, one sentence each. */
export function platformTroubles(
  platforms: Readonly<Record<string, PlatformRecord>>,
): readonly string[] {
  return Object.entries(platforms)
    .filter(([, record]) => TROUBLES.has(record.state))
    .map(([name, { state, error_message: message }]) =>
      message === null ? `${name} is ${state}` : `${name} is ${state}: ${message}`,
    );
}

/** At least one platform is switched on. */
export function hasPlatform(platforms: Readonly<Record<string, PlatformRecord>>): boolean {
  return Object.values(platforms).some((record) => record.state !== "disabled");
}
