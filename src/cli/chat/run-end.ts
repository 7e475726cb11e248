// What ends a run from outside: a signal, or a reader of stdout that went away.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { Io } from "../io.ts";

export type RunEnd = "SIGINT" | "SIGTERM" | "SIGHUP" | "pipe";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function exitOfEnd(end: RunEnd): ExitCode {
  switch (end) {
    case "SIGINT":
      return EXIT.interrupted;
    case "SIGTERM":
    case "SIGHUP":
      return EXIT.terminated;
    case "pipe":
      return EXIT.ok;
  }
}

/** Calls `onEnd` for each of them. Returns a function that takes the listeners away. */
export function listenForEnd(io: Io, onEnd: (end: RunEnd) => void): () => void {
  const handlers = SIGNALS.map((signal) => [signal, () => onEnd(signal)] as const);
  const onError = (): void => onEnd("pipe");
  for (const [signal, handler] of handlers) process.on(signal, handler);
  io.stdout.on("error", onError);
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    io.stdout.off("error", onError);
  };
}
