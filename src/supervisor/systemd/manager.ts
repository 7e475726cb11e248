// The systemd backend of the ServiceManager (container.md §7.4). A unit is written on demand only ("hermes gateway install");
// a gateway without one is started and stopped as where nothing supervises.
import { EXIT } from "#base/exit-codes.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { LABELS } from "../detect.ts";
import { ServiceError } from "../port.ts";
import type { ControlOptions, ServiceManager, SlotFacts } from "../port.ts";
import { runTool, type RunTool } from "../s6/tool.ts";
import { type Desired, markPlannedStop, writeDesired } from "../service-files.ts";
import { profileHome } from "../services.ts";
import { parseSlotName, slotName, type SlotId } from "../slot-name.ts";
import { processStartTime } from "#base/process-identity.ts";
import { readUnit } from "./facts.ts";
import { removeUnit, systemctl } from "./install.ts";
import { listUnits, unitName, type UnitLayout, whoseUnit } from "./unit.ts";

export interface SystemdDeps {
  readonly layout: UnitLayout;
  /** For gateways without a unit. */
  readonly plain: Pick<ServiceManager, "start" | "stop" | "restart" | "facts" | "register">;
  judge(facts: SlotFacts): ServiceBody;
  /** The service that this very process runs in; null outside. */
  readonly ownSlot: string | null;
  readonly run?: RunTool;
}

const STEP_MS = 100;
const SETTLED: readonly string[] = ["ready", "degraded"];

export function createSystemdManager(deps: SystemdDeps): ServiceManager {
  const { layout, plain } = deps;
  const units = new Units(deps);
  const either =
    (verb: "start" | "stop" | "restart") =>
    (slot: string, options: ControlOptions): Promise<ServiceBody> => {
      const id = checked(slot);
      return whoseUnit(layout, id) === "ours"
        ? units[verb](id, options)
        : plain[verb](slot, options);
    };
  return {
    kind: "systemd",
    label: LABELS.systemd,
    canRegister: false,
    scandir: null,
    list: async () => listUnits(layout).map(slotName),
    async facts(slot) {
      const id = checked(slot);
      return whoseUnit(layout, id) === "ours" ? units.facts(id) : plain.facts(slot);
    },
    register: (spec, options) => plain.register(spec, options),
    async unregister(slot) {
      const id = checked(slot);
      if (whoseUnit(layout, id) === "ours") await removeUnit(layout, deps.run ?? runTool, id);
    },
    start: either("start"),
    stop: either("stop"),
    restart: either("restart"),
    rescan: () => systemctl(deps.run ?? runTool, "the services", ["daemon-reload"]),
  };
}

function checked(slot: string): SlotId {
  const id = parseSlotName(slot);
  if (id !== null) return id;
  throw new ServiceError("invalid-name", `"${slot}" is no name of a slot.`, { slot });
}

/** Services whose unit is ours. */
class Units {
  readonly #deps: SystemdDeps;
  readonly #run: RunTool;

  constructor(deps: SystemdDeps) {
    this.#deps = deps;
    this.#run = deps.run ?? runTool;
  }

  facts(id: SlotId): Promise<SlotFacts> {
    return readUnit(this.#run, this.#deps.layout.root, id, this.#home(id));
  }

  async start(id: SlotId, options: ControlOptions): Promise<ServiceBody> {
    const before = await this.facts(id);
    const body = this.#deps.judge(before);
    this.#wish(id, "running", options);
    // Also one that somebody runs in a terminal.
    if (SETTLED.includes(body.state)) return body;
    await this.#tell(id, ["reset-failed"]).catch(() => undefined);
    await this.#tell(id, ["--no-block", "start"]);
    return this.#waitStarted(id, before, null, options);
  }

  async restart(id: SlotId, options: ControlOptions): Promise<ServiceBody> {
    const before = await this.facts(id);
    this.#wish(id, "running", options);
    if (slotName(id) === this.#deps.ownSlot && before.pid !== null) {
      // Whoever asks is a child of what is restarted: it ends by itself when no turn runs (container.md §7.3).
      process.kill(before.pid, "SIGUSR1");
      return this.#deps.judge(before);
    }
    this.#plan(id, before, "restart");
    await this.#tell(id, ["reset-failed"]).catch(() => undefined);
    await this.#tell(id, ["--no-block", "restart"]);
    return this.#waitStarted(id, before, before.pid, options);
  }

  async stop(id: SlotId, options: ControlOptions): Promise<ServiceBody> {
    const before = await this.facts(id);
    if (!before.up && !before.wantedUp && this.#deps.judge(before).pid !== null) {
      return this.#deps.plain.stop(slotName(id), options);
    }
    this.#wish(id, "stopped", options);
    this.#plan(id, before, "stop");
    await this.#tell(id, ["--no-block", "stop"]);
    if (slotName(id) === this.#deps.ownSlot) return this.#deps.judge(before);
    const { waitMs } = options;
    const after = await this.#until(id, waitMs, ({ up, wantedUp }) => !up && !wantedUp);
    if (!after.up && !after.wantedUp) return this.#deps.judge(after);
    const slot = slotName(id);
    throw new ServiceError("timeout", `${slot} did not stop within ${waitMs / 1000} s.`, { slot });
  }

  async #waitStarted(
    id: SlotId,
    before: SlotFacts,
    oldPid: number | null,
    { waitMs }: ControlOptions,
  ): Promise<ServiceBody> {
    const died = before.deaths.at(-1)?.at ?? 0;
    const facts = await this.#until(id, waitMs, (now) => {
      const { state } = this.#deps.judge(now);
      if (SETTLED.includes(state)) return now.pid !== oldPid;
      const isLater = (now.deaths.at(-1)?.at ?? 0) > died;
      return state === "crash-looping" || (state === "refused" && isLater);
    });
    const body = this.#deps.judge(facts);
    if (SETTLED.includes(body.state) && facts.pid !== oldPid) return body;
    throw failed(id, body, waitMs);
  }

  /** The facts for which `isEnough` holds, or the last ones before the deadline. */
  async #until(
    id: SlotId,
    waitMs: number,
    isEnough: (facts: SlotFacts) => boolean,
  ): Promise<SlotFacts> {
    const end = performance.now() + waitMs;
    for (;;) {
      const facts = await this.facts(id);
      if (isEnough(facts) || performance.now() >= end) return facts;
      await new Promise((resolve) => {
        setTimeout(resolve, STEP_MS);
      });
    }
  }

  /** Before systemd is told; a write that fails tells it nothing (D7). */
  #wish(id: SlotId, desired: Desired, { by, source }: ControlOptions): void {
    if (id.kind === "gateway") writeDesired(this.#home(id), { desired, by, source }, Date.now());
  }

  #plan(id: SlotId, { pid }: SlotFacts, intent: "stop" | "restart"): void {
    const startTime = pid === null ? null : processStartTime(pid);
    if (id.kind === "dashboard" || pid === null || startTime === null) return;
    markPlannedStop(this.#home(id), { pid, startTime }, intent, Date.now());
  }

  #tell(id: SlotId, words: readonly string[]): Promise<void> {
    return systemctl(this.#run, slotName(id), [...words, unitName(id)]);
  }

  #home({ kind, profile }: SlotId): string {
    const { root } = this.#deps.layout;
    return kind === "dashboard" ? root : profileHome(root, profile);
  }
}

function failed(id: SlotId, body: ServiceBody, waitMs: number): ServiceError {
  const slot = slotName(id);
  const { state, reason } = body;
  const why = reason === null ? "" : ` (${reason})`;
  const fix = `Its output: journalctl --user --unit=${unitName(id)}`;
  if (state === "refused" || state === "crash-looping") {
    return new ServiceError(state, `${slot} is ${state}${why}.`, { slot, fix });
  }
  return new ServiceError("timeout", `${slot} is ${state}${why} after ${waitMs / 1000} s.`, {
    slot,
    exit: EXIT.restart,
    fix,
  });
}
