// What ends a gateway from outside (agent.md §7.10): TERM, INT and HUP drain it, a second one aborts, USR1 restarts it when idle.

export type SignalName = "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGUSR1";

/** Where signals come from; `process` outside tests. */
export interface SignalSource {
  on(signal: SignalName, listener: () => void): unknown;
  off(signal: SignalName, listener: () => void): unknown;
}

export type StopRequest =
  | { readonly kind: "signal"; readonly signal: "SIGTERM" | "SIGINT" | "SIGHUP" }
  /** No turn is interrupted; the process ends with 75. */
  | { readonly kind: "restart" };

export interface StopSignals {
  /** Resolves with the first request. */
  readonly asked: Promise<StopRequest>;
  /** Aborts with the first request: ends whatever the start is waiting for. */
  readonly first: AbortSignal;
  /** Aborts with a terminating signal that comes after a request. */
  readonly second: AbortSignal;
  close(): void;
}

const ENDING = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export function watchStopSignals(source: SignalSource): StopSignals {
  const first = new AbortController();
  const second = new AbortController();
  let resolveAsked: (request: StopRequest) => void = () => undefined;
  const asked = new Promise<StopRequest>((resolve) => (resolveAsked = resolve));
  const ask = (request: StopRequest): void => {
    resolveAsked(request);
    first.abort(new Error("the gateway was told to stop"));
  };
  const restart = (): void => ask({ kind: "restart" });
  const enders = ENDING.map((signal) => {
    const listener = (): void => {
      if (first.signal.aborted) second.abort(new Error(`a second signal: ${signal}`));
      else ask({ kind: "signal", signal });
    };
    source.on(signal, listener);
    return [signal, listener] as const;
  });
  source.on("SIGUSR1", restart);
  return {
    asked,
    first: first.signal,
    second: second.signal,
    close() {
      for (const [signal, listener] of enders) source.off(signal, listener);
      source.off("SIGUSR1", restart);
    },
  };
}
