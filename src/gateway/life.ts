// The life of a gateway that holds its home: identity, store, platforms, ready, until it is told to end.
import { HermesError, isNoRoom, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { drainAndClose } from "./drain.ts";
import type { GatewayDeps } from "./deps.ts";
import { ObservedState } from "./observed-state.ts";
import { hasPlatform, PlatformRunner, platformTroubles } from "./platform-runner.ts";
import type { StopRequest, StopSignals } from "./stop-signals.ts";
import { openStorage, type Storage } from "./storage.ts";
import { TurnGate } from "./turn-gate.ts";

export interface GatewayEnd {
  readonly isRestart: boolean;
}

export class GatewayLife {
  readonly #deps: GatewayDeps;
  readonly #signals: StopSignals;
  readonly #observed: ObservedState;
  readonly #turns: TurnGate;
  #isServing = false;

  constructor(deps: GatewayDeps, signals: StopSignals) {
    this.#deps = deps;
    this.#signals = signals;
    this.#observed = new ObservedState({
      clock: deps.clock,
      log: deps.log,
      identity: deps.self,
      argv: deps.argv,
      profile: deps.loaded().profile,
      desired: () => deps.files.desired(),
      write: (record) => deps.files.writeObserved(record),
      redact: (text) => deps.redact(text),
    });
    this.#turns = new TurnGate((active) => this.#observed.turns(active));
  }

  async run(): Promise<GatewayEnd> {
    this.#writeIdentity();
    let storage: Storage | null = null;
    let runner: PlatformRunner | null = null;
    try {
      storage = await openStorage(this.#deps);
      runner = this.#makeRunner(storage);
      await Promise.race([runner.connectAll(), this.#signals.asked]);
      if (!this.#signals.first.aborted) await this.#serve(storage);
      const request = await this.#signals.asked;
      await this.#stop(request, storage, runner);
      return { isRestart: request.kind === "restart" };
    } catch (error) {
      await runner?.disconnectAll();
      await storage?.close().catch(() => undefined);
      this.#observed.end("startup_failed", messageOf(error));
      throw error;
    } finally {
      this.#deps.files.removePid();
    }
  }

  /** Step 4: nothing was there before us that is not a leftover, for the lock is ours. */
  #writeIdentity(): void {
    const { files, self, argv, slot, clock } = this.#deps;
    const { home } = this.#deps.loaded();
    try {
      files.writePid({
        pid: self.pid,
        start_time: self.startTime,
        kind: "hermes-gateway",
        argv,
        home,
        host: self.host,
        slot: slot?.name ?? null,
        started_at: new Date(clock.now()).toISOString(),
      });
      this.#observed.start();
    } catch (error) {
      throw new HermesError("GATEWAY_HOME", `${home} cannot be written: ${messageOf(error)}`, {
        exit: isNoRoom(error) ? EXIT.failed : EXIT.refused,
        setting: "HERMES_HOME",
        fix: isNoRoom(error) ? "Make room on its disk." : "Give this user the directory.",
        cause: error,
      });
    }
  }

  #makeRunner(storage: Storage): PlatformRunner {
    const { deps, turns } = { deps: this.#deps, turns: this.#turns };
    const { profile, config } = deps.loaded();
    return new PlatformRunner({
      specs: deps.platforms,
      observed: this.#observed,
      connectMs: config.gateway.platform_connect_timeout * 1000,
      changed: () => this.#judge(storage),
      context: {
        profile,
        loaded: () => deps.loaded(),
        conversations: () => storage.conversations(),
        deliveries: storage.deliveries,
        turns,
        clock: deps.clock,
        log: deps.log,
        redact: (text) => deps.redact(text),
      },
    });
  }

  /** Step 7: the state first, so that whoever sees "ready" reads it. */
  async #serve(storage: Storage): Promise<void> {
    this.#isServing = true;
    this.#judge(storage);
    await this.#deps.slot?.ready();
    this.#announce();
  }

  #judge(storage: Storage): void {
    if (!this.#isServing) return;
    const reasons = this.#reasons(storage);
    const state = reasons.length === 0 ? "running" : "degraded";
    this.#observed.set(state, reasons);
  }

  #reasons(storage: Storage): readonly string[] {
    const { platforms } = this.#observed;
    const reasons = [...platformTroubles(platforms)];
    if (storage.damage !== null) reasons.push(storage.damage.message);
    const model = hasPlatform(platforms) ? this.#deps.modelTrouble() : null;
    if (model !== null) reasons.push(`no model: ${model}`);
    return reasons;
  }

  #announce(): void {
    const { deps } = { deps: this.#deps };
    const { platforms, state } = this.#observed;
    const served = Object.entries(platforms)
      .filter(([, record]) => record.state !== "disabled")
      .map(([name, record]) =>
        record.error_message === null
          ? `${name} ${record.state}`
          : `${name} ${record.state}: ${record.error_message}`,
      );
    const what = served.length === 0 ? "no platform is configured" : served.join("; ");
    deps.say(`gateway ${deps.loaded().profile}: ${state} (pid ${deps.self.pid}); ${what}`);
    deps.log.info("gateway is ready", { state, platforms: served });
  }

  async #stop(request: StopRequest, storage: Storage, runner: PlatformRunner): Promise<void> {
    const { deps } = { deps: this.#deps };
    const { profile, config } = deps.loaded();
    const planned = deps.files.takePlanned(deps.self);
    const reason = describe(request, planned);
    this.#isServing = false;
    this.#observed.draining({ isRestart: request.kind === "restart" || planned === "restart" });
    deps.say(`gateway ${profile}: stopping (${reason})`);
    deps.log.info("gateway is stopping", { reason, turns: this.#turns.active });
    await drainAndClose({
      turns: this.#turns,
      clock: deps.clock,
      second: this.#signals.second,
      drainMs: request.kind === "restart" ? null : config.agent.restart_drain_timeout * 1000,
      closeStorage: () => storage.close(),
      disconnect: () => runner.disconnectAll(),
    });
    this.#observed.end("stopped", reason);
    deps.say(`gateway ${profile}: goodbye`);
    deps.log.info("gateway has stopped", { reason });
  }
}

function describe(request: StopRequest, planned: string | null): string {
  if (planned !== null) return `asked for: ${planned}`;
  return request.kind === "restart" ? "restart asked for (SIGUSR1)" : request.signal;
}
