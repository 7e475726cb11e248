// Ping every 20 s; whoever has not answered by the next one is gone (dashboard.md §9.2).
import type { WebSocket } from "ws";
import type { Clock } from "#base/clock.ts";

const PING_MS = 20_000;

/** Terminates a socket whose other side is silent. Ends with the socket. */
export function keepAlive(ws: WebSocket, clock: Clock): void {
  let alive = true;
  const tick = (): void => {
    if (!alive) {
      ws.terminate();
      return;
    }
    alive = false;
    ws.ping();
    timer = clock.after(PING_MS, tick);
  };
  let timer = clock.after(PING_MS, tick);
  ws.on("pong", () => {
    alive = true;
  });
  ws.once("close", () => timer.cancel());
}
