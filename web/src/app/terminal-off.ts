// Whether the server said that the terminal is switched off (close code 4403): then the navigation does not offer it.
import { useSyncExternalStore } from "react";

let isOff = false;
const listeners = new Set<() => void>();

export function setTerminalOff(off: boolean): void {
  if (off === isOff) return;
  isOff = off;
  for (const listener of listeners) listener();
}

export function useTerminalOff(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOff,
  );
}
