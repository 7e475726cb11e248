// The calls of one reply: together where they may, in order where they must, results stored in call order (I3, I4).
import { messageOf } from "#base/errors.ts";
import type { GuardedCall } from "./guards.ts";
import type { ModelCall } from "./model-attempt.ts";
import type { Tool, ToolResult } from "./ports/tool.ts";
import { admitCall, errorResult, guardedCall, readCall } from "./tool-admission.ts";
import { openToolContext } from "./tool-context.ts";
import { saveRow, showState, type Turn } from "./turn.ts";
import { within } from "./within.ts";

/** After a stop tools get this long to end their processes (TERM, 2 s, KILL); the turn then ends without them (I8). */
const STOP_GRACE_MS = 2600;

interface Slot {
  readonly call: ModelCall;
  guarded: GuardedCall;
  result: ToolResult | null;
  startedMs: number | null;
  durationMs: number;
}

/**
 * Runs after the assistant row with these calls is stored. Returns when each has its stored result. Throws TurnStopped
 * when the turn was stopped: also then every call has a result. A store that fails stops the turn as `broken`.
 */
export async function runToolRound(turn: Turn, calls: readonly ModelCall[]): Promise<void> {
  const round = new ToolRound(turn, calls);
  showState(turn, "tools");
  round.announce();
  await round.run();
  await round.saved();
  turn.stop.throwIfStopped();
}

class ToolRound {
  readonly #turn: Turn;
  readonly #slots: readonly Slot[];
  readonly #running = new Set<Promise<void>>();
  #saving: Promise<void> = Promise.resolve();
  #nextToSave = 0;

  constructor(turn: Turn, calls: readonly ModelCall[]) {
    this.#turn = turn;
    this.#slots = calls.map((call) => ({
      call,
      guarded: { name: call.name, input: call.inputText },
      result: null,
      startedMs: null,
      durationMs: 0,
    }));
  }

  announce(): void {
    const { deps } = this.#turn;
    for (const [index, { call }] of this.#slots.entries()) {
      deps.emit({
        type: "tool-call",
        callId: call.callId,
        name: call.name,
        input: deps.redactor.value(call.input),
        index,
        of: this.#slots.length,
      });
    }
  }

  async run(): Promise<void> {
    try {
      for (const slot of this.#slots) {
        if (this.#isStopped()) break;
        await this.#start(slot);
      }
    } catch (error) {
      // Whatever broke, tools that run already must not go on without a turn.
      this.#turn.stop.fire("broken", error);
    }
    await this.#untilFewerThan(1);
    if (this.#isStopped()) await this.#giveUp();
  }

  /** Resolves when every result is stored; never rejects, a failing store stops the turn. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  async #start(slot: Slot): Promise<void> {
    const { call } = slot;
    const reading = readCall(this.#turn, call);
    slot.guarded = guardedCall(call, reading);
    if (!reading.ok) return this.#settle(slot, reading.result);
    const { tool, input } = reading;
    const { maxParallelTools } = this.#turn.deps.settings;
    await this.#untilFewerThan(tool.exclusive ? 1 : maxParallelTools);
    if (this.#isStopped()) return;
    const admission = await admitCall(this.#turn, call.callId, tool, input);
    // A question that the stop answered is no denial: the call was simply not run.
    if (this.#isStopped()) return;
    if (!admission.admitted) return this.#settle(slot, admission.result);
    const done = this.#execute(slot, tool, input).finally(() => this.#running.delete(done));
    this.#running.add(done);
    if (tool.exclusive) await this.#untilFewerThan(1);
  }

  async #execute(slot: Slot, tool: Tool, input: unknown): Promise<void> {
    const { deps } = this.#turn;
    const { callId } = slot.call;
    const live = openToolContext(this.#turn, callId);
    slot.startedMs = deps.clock.monotonicMs();
    deps.emit({ type: "tool-start", callId });
    const result = await deps.tools
      .execute(tool, input, live.context)
      .catch((error: unknown) => errorResult("TOOL_FAILED", deps.redactor.text(messageOf(error))));
    live.close();
    this.#settle(slot, result);
  }

  /** The first result of a call counts; one that comes after the turn gave up is dropped. */
  #settle(slot: Slot, result: ToolResult): void {
    if (slot.result !== null) return;
    const endMs = this.#turn.deps.clock.monotonicMs();
    slot.durationMs = slot.startedMs === null ? 0 : Math.round(endMs - slot.startedMs);
    slot.result = result;
    this.#saving = this.#saving
      .then(() => this.#saveReady())
      .catch((error: unknown) => this.#turn.stop.fire("broken", error));
  }

  async #saveReady(): Promise<void> {
    for (;;) {
      const slot = this.#slots[this.#nextToSave];
      if (!slot?.result || this.#turn.stop.cause === "broken") return;
      this.#nextToSave++;
      await this.#save(slot, slot.result);
    }
  }

  async #save(slot: Slot, result: ToolResult): Promise<void> {
    const { call } = slot;
    const warning = this.#turn.guards.record(slot.guarded, result);
    await saveRow(this.#turn, {
      role: "tool",
      content: this.#withSteer(withWarning(result.content, warning)),
      toolCallId: call.callId,
      toolName: call.name,
    });
    const { ok, summary, bytes, truncated, code } = result;
    this.#turn.deps.emit({
      type: "tool-end",
      callId: call.callId,
      ok,
      summary,
      durationMs: slot.durationMs,
      bytes,
      truncated,
      ...(code === undefined ? {} : { code }),
    });
  }

  /** A stopped turn leaves steer texts where they are: they become the next turn. */
  #withSteer(content: string): string {
    if (this.#isStopped()) return content;
    const texts = this.#turn.deps.takeSteer().map((text) => `[user, meanwhile] ${text}`);
    return [content, ...texts].join("\n\n");
  }

  #isStopped(): boolean {
    return this.#turn.stop.cause !== null;
  }

  /** Waits for room, or for the stop and its grace. */
  async #untilFewerThan(count: number): Promise<void> {
    while (this.#running.size >= count && !this.#isStopped()) {
      const { clock } = this.#turn.deps;
      await within(Promise.race(this.#running), {
        clock,
        ms: null,
        signal: this.#turn.stop.signal,
      });
    }
  }

  async #giveUp(): Promise<void> {
    const { clock } = this.#turn.deps;
    await within(Promise.all(this.#running), { clock, ms: STOP_GRACE_MS, signal: null });
    for (const slot of this.#slots) {
      const note = slot.startedMs === null ? "not run" : "outcome unknown";
      this.#settle(slot, interrupted(note));
    }
  }
}

/** The form of I5, so that history looks the same whether a stop or a crash ended the call. */
function interrupted(note: "not run" | "outcome unknown"): ToolResult {
  const content = JSON.stringify({ error: "interrupted", note });
  return {
    ok: false,
    content,
    summary: `interrupted, ${note}`,
    bytes: content.length,
    truncated: false,
    code: "INTERRUPTED",
  };
}

/** The warning becomes a field of the JSON object; a result that is no object gets a line. */
function withWarning(content: string, warning: string | null): string {
  if (warning === null) return content;
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return JSON.stringify({ ...value, warning });
    }
  } catch {
    // Not JSON: falls through to the line.
  }
  return `${content}\n\n[warning] ${warning}`;
}
