// A model's stream under the watchdogs of agent.md §3.4: first byte, and content between two chunks.
import { messageOf } from "#base/errors.ts";
import type { Clock, Timer } from "#base/clock.ts";
import type { ModelError } from "#protocol/model-errors.ts";
import type { ModelEvent, ModelRequest, ModelTarget } from "./ports/model-client.ts";
import { within } from "./within.ts";

/**
 * Yields what the client yields and ends with exactly one `finish` or `error`, whatever the client does: silence
 * becomes `stalled`, a stream without an end or a thrown error `garbled`, an abort of the request `aborted` at once.
 */
export async function* watchedStream(
  target: ModelTarget,
  request: ModelRequest,
  clock: Clock,
): AsyncGenerator<ModelEvent> {
  const own = new AbortController();
  const signal = AbortSignal.any([request.signal, own.signal]);
  const dog = new Watchdog(clock);
  const onProgress = (): void => dog.restart(target.chunkTimeoutMs);
  dog.restart(target.firstByteTimeoutMs);
  const events = target.client.stream({ ...request, signal, onProgress })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = nextEvent(events);
      const first = await within(Promise.race([next, dog.bark]), {
        clock,
        ms: null,
        signal: request.signal,
      });
      const event: ModelEvent = first.came === "value" ? first.value : failure(ABORTED);
      yield event;
      if (event.type === "finish" || event.type === "error") return;
      dog.restart(target.chunkTimeoutMs);
    }
  } finally {
    dog.stop();
    own.abort();
    // Not awaited: a client that hangs must not hold the turn.
    events.return?.().catch(() => undefined);
  }
}

/** Barks once, with the error of a stream that was silent for too long. */
class Watchdog {
  readonly bark: Promise<ModelEvent>;
  readonly #clock: Clock;
  #resolve: (event: ModelEvent) => void = () => undefined;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.bark = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  restart(ms: number): void {
    this.#timer?.cancel();
    if (this.#stopped) return;
    const message = `no data for ${Math.round(ms / 1000)} s`;
    this.#timer = this.#clock.after(ms, () => this.#resolve(failure({ kind: "stalled", message })));
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }
}

async function nextEvent(events: AsyncIterator<ModelEvent>): Promise<ModelEvent> {
  try {
    const next = await events.next();
    return next.done ? failure(NO_END) : next.value;
  } catch (error) {
    return failure({ ...UNREADABLE, logDetail: messageOf(error) });
  }
}

const ABORTED: ModelError = { kind: "aborted", message: "the request was stopped" };
const NO_END: ModelError = { kind: "garbled", message: "the model's answer had no end" };
const UNREADABLE: ModelError = {
  kind: "garbled",
  message: "the model's answer could not be read",
};

function failure(error: ModelError): ModelEvent {
  return { type: "error", error };
}
