// The page's one client, one socket and one cache, wired to the browser.
import { QueryClient } from "@tanstack/react-query";
import type { WsTicketBody } from "#protocol/http-status.ts";
import type { SessionsBody } from "#protocol/http-sessions.ts";
import { readBoot } from "../api/boot.ts";
import { readProfile } from "../api/profile.ts";
import { createClient } from "../api/client.ts";
import { ApiError } from "../api/error.ts";
import { LiveSocket, type WireListener } from "../socket/socket.ts";

export const boot = readBoot(window as unknown as Record<string, unknown>);

export const profile = readProfile(location.search);

export const client = createClient(
  boot,
  {
    fetch: (url, init) => fetch(url, init),
    storage: sessionStorage,
    location: () => location.pathname + location.search + location.hash,
    go: (url) => location.assign(url),
    reload: () => location.reload(),
  },
  profile,
);

/** A refusal is final; only a lost connection, a busy store and a failing server are asked again. */
function isWorthRetry(failures: number, error: unknown): boolean {
  if (failures >= 2) return false;
  return error instanceof ApiError ? error.status === 0 || error.status >= 500 : false;
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: isWorthRetry, staleTime: 5000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

async function socketUrl(): Promise<string> {
  const credential =
    boot.token === null
      ? { ticket: (await client.request<WsTicketBody>("POST", "/api/auth/ws-ticket")).ticket }
      : { token: boot.token };
  const url = new URL(client.href("/api/ws", credential), location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

function openWebSocket(url: string, listener: WireListener): WebSocket {
  const wire = new WebSocket(url);
  wire.addEventListener("message", ({ data }) => {
    if (typeof data === "string") listener.onText(data);
  });
  wire.addEventListener("close", ({ code }) => listener.onClose(code));
  return wire;
}

export const socket = new LiveSocket({
  profile,
  makeUrl: socketUrl,
  open: openWebSocket,
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  random: Math.random,
  checkCredential: async () => {
    await client.request<SessionsBody>("GET", "/api/sessions", { query: { limit: 1 } });
  },
});

/** Starts the stream and lets its news make cached answers stale. */
export function startServices(): void {
  socket.start();
  window.addEventListener("online", () => socket.nudge());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") socket.nudge();
  });
  socket.onNewServer(() => void queries.invalidateQueries());
  const stale = (...key: string[]) => void queries.invalidateQueries({ queryKey: key });
  socket.followTopic("sessions", () => stale("sessions"));
  socket.followTopic("services", () => {
    for (const key of ["status", "services", "profiles"]) stale(key);
  });
  socket.followTopic("config", () => {
    for (const key of ["config", "env", "models", "setup"]) stale(key);
  });
}
