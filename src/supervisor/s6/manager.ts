// The s6 backend of the ServiceManager (container.md §7.3), for the container's scan directory and for a user's own.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "#base/exit-codes.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { LABELS } from "../detect.ts";
import type { ControlOptions, ServiceManager, SlotFacts } from "../port.ts";
import { invalidName, ServiceError } from "../port.ts";
import { writeDesired, type Desired } from "../service-files.ts";
import { beginAnew, markDown, type SlotLayout } from "../slot-files.ts";
import { parseSlotName } from "../slot-name.ts";
import { FactsReader } from "./facts.ts";
import { register, rescan, toolFailed, unregister, waitSupervised } from "./registration.ts";
import { runTool, type RunTool } from "./tool.ts";

export interface S6Deps {
  readonly kind: "s6" | "s6-user";
  /** Absolute. */
  readonly scandir: string;
  readonly layout: SlotLayout;
  /** Judges facts by the one function, with the files of the slot's home. */
  judge(facts: SlotFacts): ServiceBody;
  /** The slot that this very process runs in; null outside. */
  readonly ownSlot: string | null;
  readonly run?: RunTool;
}

const STEP_MS = 50;
const SETTLED: readonly string[] = ["ready", "degraded"];

export function createS6Manager(deps: S6Deps): ServiceManager {
  const { kind, scandir, layout } = deps;
  const run = deps.run ?? runTool;
  const registration = { scandir, layout, run };
  const reader = new FactsReader(scandir, run);
  const facts = (slot: string): Promise<SlotFacts> => reader.read(slot);
  const control = new S6Control(deps, run, facts);
  return {
    kind,
    label: LABELS[kind],
    canRegister: true,
    scandir,
    list: async () => listSlots(scandir),
    facts: async (slot) => facts(checked(slot)),
    async register(spec, { start }) {
      if (spec.kind === "gateway") checked(`gateway-${spec.profile}`);
      return register(registration, spec, !start);
    },
    unregister: async (slot) => unregister(registration, checked(slot)),
    start: async (slot, options) => control.start(checked(slot), options),
    stop: async (slot, options) => control.stop(checked(slot), options),
    restart: async (slot, options) => control.restart(checked(slot), options),
    rescan: () => rescan(registration, "the slots", "-a"),
  };
}

function checked(slot: string): string {
  if (parseSlotName(slot) !== null) return slot;
  throw invalidName(slot);
}

export function listSlots(scandir: string): readonly string[] {
  try {
    return readdirSync(scandir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && parseSlotName(entry.name) !== null)
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

class S6Control {
  readonly #deps: S6Deps;
  readonly #run: RunTool;
  readonly #facts: (slot: string) => Promise<SlotFacts>;

  constructor(deps: S6Deps, run: RunTool, facts: (slot: string) => Promise<SlotFacts>) {
    this.#deps = deps;
    this.#run = run;
    this.#facts = facts;
  }

  async start(slot: string, options: ControlOptions): Promise<ServiceBody> {
    const before = await this.#prepare(slot, "running", options);
    // Of a slot that runs nothing changes; one that had refused is wanted up again.
    await this.#svc(slot, ["-U"]);
    return this.#waitStarted(slot, before, null, options);
  }

  async restart(slot: string, options: ControlOptions): Promise<ServiceBody> {
    if (slot === this.#deps.ownSlot) return this.#afterThisTurn(slot, "running", options);
    const before = await this.#prepare(slot, "running", options);
    await this.#svc(slot, ["-U"]);
    const isOld = before.up && before.pid !== null;
    if (isOld) await this.#svc(slot, ["-r"]);
    return this.#waitStarted(slot, before, isOld ? before.pid : null, options);
  }

  async stop(slot: string, options: ControlOptions): Promise<ServiceBody> {
    if (slot === this.#deps.ownSlot) return this.#afterThisTurn(slot, "stopped", options);
    await this.#prepare(slot, "stopped", options);
    const { waitMs } = options;
    const end = await this.#run(
      "s6-svc",
      ["-wD", "-T", String(waitMs), "-D", this.#dir(slot)],
      waitMs + 1000,
    );
    const after = await this.#facts(slot);
    if (!after.up) return this.#deps.judge(after);
    if (end.rc !== null && end.rc !== 0 && end.rc !== 99 && end.rc !== 1) {
      throw toolFailed("s6-svc", slot, end);
    }
    throw new ServiceError("timeout", `${slot} did not stop within ${waitMs / 1000} s.`, { slot });
  }

  /**
   * Asked from inside the slot itself: whoever asks is a child of what would be stopped, so it ends by itself when no turn
   * runs (SIGUSR1), and s6 then does what is wanted (container.md §7.3, field-rules C09).
   */
  async #afterThisTurn(
    slot: string,
    desired: Desired,
    options: ControlOptions,
  ): Promise<ServiceBody> {
    const facts = await this.#prepare(slot, desired, options);
    if (desired === "stopped") {
      markDown(this.#dir(slot));
      await this.#svc(slot, ["-O"]);
    } else {
      await this.#svc(slot, ["-U"]);
    }
    if (facts.up && facts.pid !== null) process.kill(facts.pid, "SIGUSR1");
    return this.#deps.judge(await this.#facts(slot));
  }

  /** The wish is written before the supervisor is told; a write that fails tells it nothing (D7). */
  async #prepare(slot: string, desired: Desired, options: ControlOptions): Promise<SlotFacts> {
    const facts = await this.#facts(slot);
    if (!facts.registered) {
      throw new ServiceError("not-registered", `${slot} is not registered.`, {
        slot,
        profile: facts.profile,
        fix: `Register it: hermes profile repair ${facts.profile}`,
      });
    }
    if (!facts.supervised)
      await waitSupervised({ scandir: this.#deps.scandir, run: this.#run }, slot);
    if (facts.kind === "gateway" && facts.spec !== null) {
      writeDesired(
        facts.spec.home,
        { desired, by: options.by, source: options.source },
        Date.now(),
      );
    }
    if (desired === "running") beginAnew(this.#dir(slot), Date.now());
    return facts.supervised ? facts : this.#facts(slot);
  }

  async #waitStarted(
    slot: string,
    before: SlotFacts,
    oldPid: number | null,
    { waitMs }: ControlOptions,
  ): Promise<ServiceBody> {
    const end = performance.now() + waitMs;
    for (;;) {
      const facts = await this.#facts(slot);
      const body = this.#deps.judge(facts);
      const isNew = oldPid === null || facts.pid !== oldPid;
      if (isNew && SETTLED.includes(body.state)) return body;
      if (isNew && body.state === "refused" && isLater(facts, before))
        throw failed("refused", slot, body);
      if (body.state === "crash-looping" && isLater(facts, before)) {
        throw failed("crash-looping", slot, body);
      }
      if (performance.now() >= end) throw tooSlow(slot, body, waitMs);
      await new Promise((resolve) => {
        setTimeout(resolve, STEP_MS);
      });
    }
  }

  async #svc(slot: string, args: readonly string[]): Promise<void> {
    const end = await this.#run("s6-svc", [...args, this.#dir(slot)]);
    if (end.rc !== 0) throw toolFailed("s6-svc", slot, end);
  }

  #dir(slot: string): string {
    return join(this.#deps.scandir, slot);
  }
}

/** A verdict about deaths of before the start is no answer to it. */
function isLater(facts: SlotFacts, before: SlotFacts): boolean {
  return (facts.deaths.at(-1)?.at ?? 0) > (before.deaths.at(-1)?.at ?? 0);
}

function failed(code: "refused" | "crash-looping", slot: string, body: ServiceBody): ServiceError {
  const what = code === "refused" ? "refused to run" : "keeps crashing";
  const ways = body.error?.ways_out.join("\n");
  return new ServiceError(code, `${slot} ${what}: ${body.reason ?? "its log says why"}`, {
    slot,
    fix: ways !== undefined && ways !== "" ? ways : `Its log: ${body.log ?? "hermes logs"}`,
  });
}

function tooSlow(slot: string, body: ServiceBody, waitMs: number): ServiceError {
  const { state, reason } = body;
  return new ServiceError(
    "timeout",
    `${slot} is ${state}${reason === null ? "" : ` (${reason})`} after ${waitMs / 1000} s.`,
    { slot, exit: EXIT.restart, fix: 'Ask again with "hermes gateway status".' },
  );
}
