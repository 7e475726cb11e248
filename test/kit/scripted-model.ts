// A ModelClient that answers from a list of steps and records what it was asked. No network, time from a clock.
//
//   const model = new ScriptedModel([callStep("echo", { text: "a" }), textStep("done")], clock);
//   const target = scriptedTarget(model);
import { waitFor, type Clock } from "#base/clock.ts";
import type {
  FinishReason,
  ModelClient,
  ModelEvent,
  ModelRequest,
  ModelTarget,
} from "#agent/ports/model-client.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import type { Usage } from "#protocol/messages.ts";
import type { ModelError, ModelErrorKind } from "#protocol/model-errors.ts";

/** A pause of the stream in milliseconds of the clock; `hang` until the request is aborted. */
export type Pause = { readonly type: "pause"; readonly ms: number } | { readonly type: "hang" };
export type Step = readonly (ModelEvent | Pause)[];

const USAGE: Usage = { ...NO_USAGE, input: 100, output: 10 };

export function textStep(text: string, reason: FinishReason = "stop"): Step {
  return [...deltas(text), { type: "finish", reason, usage: USAGE }];
}

export interface ScriptedCall {
  readonly name: string;
  readonly input: unknown;
  readonly callId?: string;
  /** Arguments as they came, with the parser's message. */
  readonly invalid?: { readonly text: string; readonly message: string };
}

let callCount = 0;

/** One reply with these calls, after `text`. Call ids are unique unless given. */
export function callsStep(calls: readonly ScriptedCall[], text = ""): Step {
  return [
    ...deltas(text),
    ...calls.map((call): ModelEvent => ({
      type: "tool-call",
      callId: call.callId ?? `model_call_${++callCount}`,
      name: call.name,
      input: call.invalid ? {} : call.input,
      inputText: call.invalid?.text ?? JSON.stringify(call.input),
      ...(call.invalid ? { invalid: call.invalid.message } : {}),
    })),
    { type: "finish", reason: "tool-calls", usage: USAGE },
  ];
}

export function callStep(name: string, input: unknown, text = ""): Step {
  return callsStep([{ name, input }], text);
}

export function errorStep(
  kind: ModelErrorKind,
  more: Partial<ModelError> = {},
  textBefore = "",
): Step {
  const error: ModelError = { message: `scripted ${kind}`, ...more, kind };
  return [...deltas(textBefore), { type: "error", error }];
}

/** Text that is shown and then nothing more. */
export function hangStep(text: string): Step {
  return [...deltas(text), { type: "hang" }];
}

export class ScriptedModel implements ModelClient {
  readonly requests: ModelRequest[] = [];
  readonly #steps: Step[];
  readonly #clock: Clock;

  constructor(steps: readonly Step[], clock: Clock) {
    this.#steps = [...steps];
    this.#clock = clock;
  }

  get left(): number {
    return this.#steps.length;
  }

  add(...steps: readonly Step[]): void {
    this.#steps.push(...steps);
  }

  /** For a request that comes before those that have steps already. */
  addFirst(step: Step): void {
    this.#steps.unshift(step);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const step = this.#steps.shift();
    if (!step) throw new Error("the scripted model has no step for this request");
    for (const item of step) {
      if (request.signal.aborted) break;
      if (item.type === "pause" || item.type === "hang") await this.#pause(item, request.signal);
      else yield item;
    }
    if (request.signal.aborted) yield { type: "error", error: ABORTED };
  }

  async #pause(pause: Pause, signal: AbortSignal): Promise<void> {
    if (pause.type === "pause") {
      await waitFor(this.#clock, pause.ms, signal).catch(() => undefined);
      return;
    }
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

const ABORTED: ModelError = { kind: "aborted", message: "aborted" };

/** A few characters at a time, so that cuts fall inside words. */
function deltas(text: string): ModelEvent[] {
  const parts = text.match(/[\s\S]{1,7}/gu) ?? [];
  return parts.map((part) => ({ type: "text-delta", text: part }));
}

export function scriptedTarget(client: ModelClient, more: Partial<ModelTarget> = {}): ModelTarget {
  return {
    provider: "scripted",
    model: "one",
    client,
    contextWindow: 128_000,
    maxOutputTokens: null,
    firstByteTimeoutMs: 120_000,
    chunkTimeoutMs: 180_000,
    replaysReasoning: false,
    demo: false,
    ...more,
  };
}
