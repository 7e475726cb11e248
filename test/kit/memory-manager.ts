// A ServiceManager in memory: slots whose programs do as a test says. The contract suite runs on it and on real s6.
import { EXIT } from "#base/exit-codes.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import {
  type ControlOptions,
  invalidName,
  ServiceError,
  type ServiceManager,
  type SlotFacts,
  type SlotSpec,
} from "#supervisor/port.ts";
import { type Desired, writeDesired } from "#supervisor/service-files.ts";
import { judgeSlot } from "#supervisor/services.ts";
import { parseSlotName, slotName } from "#supervisor/slot-name.ts";

/** What the program of a slot does when it is started: runs, takes for ever to be ready, or ends with this code each time. */
export type Behaviour = "ready" | "slow" | number;

export interface MemoryManagerOptions {
  readonly root: string;
  readonly lock: ProcessLock;
  readonly canRegister?: boolean;
}

/** Codes with which a program asks to stay down (container.md §6.4). */
const FINAL: readonly number[] = [EXIT.ok, EXIT.usage, EXIT.refused];
/** So many deaths in a row are told as crash-looping. */
const LOOP = 3;

export class MemoryManager implements ServiceManager {
  readonly kind = "s6-user";
  readonly label = "s6 (user)";
  readonly canRegister: boolean;
  readonly scandir = "/memory";
  readonly #deps: MemoryManagerOptions;
  readonly #slots = new Map<string, SlotFacts>();
  readonly #behaviours = new Map<string, Behaviour>();
  #pids = 5_000_000;

  constructor(options: MemoryManagerOptions) {
    this.#deps = options;
    this.canRegister = options.canRegister ?? true;
  }

  behave(slot: string, behaviour: Behaviour): void {
    this.#behaviours.set(slot, behaviour);
  }

  async list(): Promise<readonly string[]> {
    return [...this.#slots.keys()].sort();
  }

  async facts(slot: string): Promise<SlotFacts> {
    return this.#slots.get(checked(slot)) ?? absent(slot);
  }

  async register(spec: SlotSpec, { start }: { readonly start: boolean }): Promise<void> {
    const slot = checkedName(spec);
    if (this.#slots.has(slot)) {
      throw new ServiceError("already-registered", `${slot} is registered already.`, { slot });
    }
    const made = { registered: true, supervised: true, registeredAt: Date.now(), spec };
    this.#slots.set(slot, { ...absent(slot), ...made });
    if (start) this.#run(slot);
  }

  async unregister(slot: string): Promise<void> {
    this.#slots.delete(checked(slot));
  }

  async start(slot: string, options: ControlOptions): Promise<ServiceBody> {
    const { up } = this.#prepare(slot, "running", options);
    if (!up) this.#run(slot);
    return this.#settled(slot, options);
  }

  async restart(slot: string, options: ControlOptions): Promise<ServiceBody> {
    if (this.#prepare(slot, "running", options).up) this.#end(slot);
    this.#run(slot);
    return this.#settled(slot, options);
  }

  async stop(slot: string, options: ControlOptions): Promise<ServiceBody> {
    if (this.#prepare(slot, "stopped", options).up) this.#end(slot);
    this.#change(slot, { wantedUp: false, normallyUp: false });
    return this.#judge(slot);
  }

  async rescan(): Promise<void> {
    // Nothing is ever out of sight in memory.
  }

  #prepare(slot: string, desired: Desired, { by, source }: ControlOptions): SlotFacts {
    const facts = this.#slots.get(checked(slot));
    if (facts === undefined) {
      throw new ServiceError("not-registered", `${slot} is not registered.`, { slot });
    }
    if (facts.kind === "gateway" && facts.spec !== null) {
      writeDesired(facts.spec.home, { desired, by, source }, Date.now());
    }
    return facts;
  }

  #run(slot: string): void {
    const behaviour = this.#behaviours.get(slot) ?? "ready";
    const now = Date.now();
    this.#change(slot, { wantedUp: true, normallyUp: true });
    if (typeof behaviour !== "number") {
      const ready = behaviour === "ready";
      this.#change(slot, {
        up: true,
        ready,
        pid: ++this.#pids,
        changedAt: now,
        readyAt: ready ? now : null,
        answers: ready ? true : null,
      });
      return;
    }
    const death = { at: now, code: behaviour, signal: null };
    const isFinal = FINAL.includes(behaviour);
    const deaths = [
      ...this.#get(slot).deaths,
      ...Array.from({ length: isFinal ? 1 : LOOP }, () => death),
    ];
    this.#change(slot, { wantedUp: !isFinal, deaths, exitCode: behaviour });
  }

  #end(slot: string): void {
    const death = { at: Date.now(), code: EXIT.restart, signal: null };
    const deaths = [...this.#get(slot).deaths, death];
    this.#change(slot, { up: false, ready: true, pid: null, answers: null, deaths });
  }

  #settled(slot: string, { waitMs }: ControlOptions): ServiceBody {
    const body = this.#judge(slot);
    if (body.state === "ready") return body;
    const { state } = body;
    const code = state === "refused" || state === "crash-looping" ? state : "timeout";
    throw new ServiceError(code, `${slot} is ${state} after ${waitMs / 1000} s.`, {
      slot,
      ...(code === "timeout" ? { exit: EXIT.restart } : {}),
    });
  }

  #judge(slot: string): ServiceBody {
    return judgeSlot(this.#deps, this.#get(slot));
  }

  #get(slot: string): SlotFacts {
    return this.#slots.get(slot) ?? absent(slot);
  }

  #change(slot: string, change: Partial<SlotFacts>): void {
    this.#slots.set(slot, { ...this.#get(slot), ...change });
  }
}

function checked(slot: string): string {
  if (parseSlotName(slot) !== null) return slot;
  throw invalidName(slot);
}

function checkedName(spec: SlotSpec): string {
  return checked(spec.kind === "dashboard" ? slotName(spec) : `gateway-${spec.profile}`);
}

function absent(slot: string): SlotFacts {
  const { kind, profile } = parseSlotName(slot) ?? { kind: "gateway", profile: slot };
  return {
    slot,
    kind,
    profile,
    registered: false,
    supervised: false,
    up: false,
    wantedUp: false,
    normallyUp: false,
    ready: false,
    finishing: false,
    registeredAt: null,
    pid: null,
    exitCode: null,
    signal: null,
    changedAt: null,
    readyAt: null,
    deaths: [],
    backoff: null,
    askedAt: null,
    answers: null,
    spec: null,
    lastError: null,
  };
}
