// GATEWAY_HEALTH_URL: a gateway that lives in another container, asked in the background every 5 s, never in a request
// (dashboard.md §11.2).
import type { Clock, Timer } from "#base/clock.ts";

export interface RemoteGateway {
  /** null: not set, or not asked yet. */
  state(): "up" | "down" | null;
  close(): void;
}

const EVERY_MS = 5000;
const DEFAULT_SECONDS = 3;

/** `timeout` in seconds; a bad value is the default. */
export function watchRemoteGateway(
  url: string | null,
  timeout: string | undefined,
  clock: Clock,
): RemoteGateway {
  if (url === null) return { state: () => null, close: () => undefined };
  const seconds = /^\d{1,3}(?:\.\d+)?$/u.test(timeout ?? "") ? Number(timeout) : DEFAULT_SECONDS;
  let state: "up" | "down" | null = null;
  let timer: Timer | null = null;
  let isClosed = false;
  const ask = async (): Promise<void> => {
    state = (await isUp(url, (seconds || DEFAULT_SECONDS) * 1000)) ? "up" : "down";
    if (!isClosed) timer = clock.after(EVERY_MS, () => void ask());
  };
  void ask();
  return {
    state: () => state,
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}

async function isUp(url: string, limitMs: number): Promise<boolean> {
  try {
    const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(limitMs) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
