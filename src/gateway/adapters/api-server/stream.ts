// A completion as it grows (agent.md §7.9): text as chunks, everything else as comments, or as events for who asked for them.
import type { Clock, Timer } from "#base/clock.ts";
import type { AgentEvent } from "#protocol/events.ts";
import type { TurnResult } from "#session/types.ts";
import { chunkBody, usageChunk, type FinishReason, type Heading } from "./chunks.ts";
import type { ApiFailure } from "./errors.ts";
import { SentText } from "./sent-text.ts";

/** Proxies and clients give up on a silent connection. */
const COMMENT_MS = 10_000;
/** A client that is this far behind is let go; its turn is aborted. */
const MOST_BUFFERED_BYTES = 4 * 1024 * 1024;

export interface StreamOptions {
  readonly heading: Heading;
  readonly clock: Clock;
  readonly withUsage: boolean;
  /** `X-Hermes-Events: 1`: without it the official client's `.stream()` would fail on any unknown event. */
  readonly withEvents: boolean;
  /** The client went away before the end. */
  readonly onGone: () => void;
}

export class CompletionStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: StreamOptions;
  readonly #encoder = new TextEncoder();
  readonly #text = new SentText();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #timer: Timer | null = null;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        cancel: () => this.#end(true),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_BUFFERED_BYTES }),
    );
    this.#data(chunkBody(options.heading, { role: "assistant", content: "" }));
    this.#rest();
  }

  event(event: AgentEvent): void {
    if (event.type === "model-start") this.#text.begin();
    if (event.type === "model-retry" && event.discardText) this.#text.discard();
    if (event.type === "text-delta") return this.#delta(event.text);
    if (event.type === "snapshot") return undefined;
    if (this.#options.withEvents)
      return this.#write(`event: hermes.${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    if (event.type === "tool-call") this.#comment(`tool ${event.name}`);
    return undefined;
  }

  finish(result: TurnResult): void {
    const { heading, withUsage } = this.#options;
    this.#data(chunkBody(heading, {}, finishOf(result)));
    if (withUsage) this.#data(usageChunk(heading, result.usage));
    this.#write("data: [DONE]\n\n");
    this.#end(false);
  }

  /** The status is long sent: the client reads the error as data. */
  fail(failure: ApiFailure): void {
    this.#data(failure.body);
    this.#write("data: [DONE]\n\n");
    this.#end(false);
  }

  #delta(text: string): void {
    const more = this.#text.add(text);
    if (more !== "") this.#data(chunkBody(this.#options.heading, { content: more }));
  }

  #data(value: Readonly<Record<string, unknown>>): void {
    this.#write(`data: ${JSON.stringify(value)}\n\n`);
  }

  #comment(text: string): void {
    this.#write(`: ${text.replaceAll(/[\r\n]+/g, " ")}\n\n`);
  }

  #write(text: string): void {
    if (this.#controller === null) return;
    if ((this.#controller.desiredSize ?? 0) <= 0) return this.#end(true);
    this.#controller.enqueue(this.#encoder.encode(text));
    this.#rest();
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(COMMENT_MS, () => this.#comment("working"));
  }

  #end(isGone: boolean): void {
    const controller = this.#controller;
    if (controller === null) return;
    this.#controller = null;
    this.#timer?.cancel();
    if (isGone) this.#options.onGone();
    try {
      controller.close();
    } catch {
      // Cancelled by the client: closed already.
    }
  }
}

/** The cap of rounds or of time ended it: what there is, is the answer. */
export function finishOf(result: TurnResult): FinishReason {
  return result.outcome === "budget" ? "length" : "stop";
}
