// WebSocket upgrades (dashboard.md §4.4, §9.1). A browser hides everything about a refused upgrade, so a wrong credential is
// accepted first and then closed with a code; only Host, path and Origin are refused as HTTP.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { bearerOf, type Caller, type Gate } from "#auth/access.ts";
import { isLoopbackHost, limiterKey } from "#auth/addresses.ts";
import { type Audit, deviceOf } from "#auth/audit.ts";
import { passesCrossSite } from "#auth/cross-site.ts";
import type { Limiter } from "#auth/limiter.ts";
import type { GateSettings } from "#auth/settings.ts";
import type { WsTickets } from "#auth/ws-tickets.ts";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { CLOSE } from "#protocol/socket.ts";
import { originRefused } from "./app.ts";
import type { RequestFacts } from "./facts.ts";
import type { SocketRoute } from "./routing.ts";
import { refuseUpgrade } from "./server.ts";

const FRAME_LIMIT_BYTES = 64 * 1024;

export interface UpgradeDeps {
  readonly sockets: readonly SocketRoute[];
  readonly gate: Gate;
  readonly tickets: WsTickets;
  readonly settings: GateSettings;
  readonly audit: Audit;
  readonly failures: Limiter;
  readonly clock: Clock;
  readonly log: Log;
}

type Upgrade = (
  facts: RequestFacts,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
) => void;

export function createUpgrade(deps: UpgradeDeps): Upgrade {
  let server: Promise<WebSocketServer> | null = null;
  const bindIsLoopback = isLoopbackHost(deps.settings.host);
  return (facts, incoming, socket, head) => {
    const route = deps.sockets.find(({ path }) => path === facts.path);
    if (!route) {
      refuseUpgrade(socket, 404, { detail: "Path not found", code: "not_found" });
      return;
    }
    const strangePeer = deps.gate.mode === "local" && bindIsLoopback && !facts.peerIsLoopback;
    if (strangePeer || !isOwnSite(facts)) {
      originRefused(facts, deps.log);
      const detail = "Requests from this origin are not allowed";
      refuseUpgrade(socket, 403, { detail, code: "origin_not_allowed" });
      return;
    }
    const query = new URLSearchParams(facts.query);
    const caller = identify(query, facts, deps);
    server ??= openSocketServer();
    void server.then((wss) =>
      wss.handleUpgrade(incoming, socket, head, (ws) => {
        ws.on("error", () => ws.terminate());
        if (caller) route.open({ ws, facts, caller, query });
        else closeSocket(ws, deps.clock, CLOSE.unauthorized, "unauthorized");
      }),
    );
  };
}

/** Loaded at the first upgrade: a start that nobody connects to does not pay for it. */
async function openSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  return new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_LIMIT_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
}

function isOwnSite(facts: RequestFacts): boolean {
  const site = facts.headers["sec-fetch-site"];
  return passesCrossSite({
    unsafe: true,
    origin: facts.headers.origin,
    secFetchSite: Array.isArray(site) ? site.at(-1) : site,
    contentType: undefined,
    hasTokenHeader: bearerOf(facts.headers) !== null,
    ownOrigins: facts.ownOrigins,
  });
}

/** null: no usable credential. A ticket is burnt by being presented. */
function identify(query: URLSearchParams, facts: RequestFacts, deps: UpgradeDeps): Caller | null {
  const ticket = query.get("ticket");
  if (ticket !== null) {
    const use = deps.tickets.use(ticket);
    if (use.ok) return { kind: "local" };
    noteFailure(use.reason, facts, deps);
    return null;
  }
  const caller = deps.gate.identify({ headers: facts.headers, queryToken: query.get("token") });
  if (!deps.gate.refuse({ class: "S" }, caller)) return caller;
  if (caller.kind === "stranger" && caller.presented) noteFailure("token", facts, deps);
  return null;
}

function noteFailure(reason: string, facts: RequestFacts, deps: UpgradeDeps): void {
  deps.failures.hit(limiterKey(facts.client));
  const device = deviceOf(facts.headers["user-agent"]);
  deps.audit.write("ws_ticket_rejected", { reason, ip: facts.client, path: facts.path, device });
}

/** Sends the close frame and destroys the socket 2 s later if the other side does not answer. Reason ≤ 123 bytes. */
export function closeSocket(ws: WebSocket, clock: Clock, code: number, reason: string): void {
  ws.close(code, reason.slice(0, 120));
  const timer = clock.after(2000, () => ws.terminate());
  ws.once("close", () => timer.cancel());
}
