// WebSocket upgrades (dashboard.md §4.4, §9.1). A browser hides everything about a refused upgrade, so a wrong credential is
// accepted first and then closed with a code; only Host, path and Origin are refused as HTTP.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { type AccessRule, bearerOf, type Caller } from "#auth/access.ts";
import { isLoopbackHost, limiterKey } from "#auth/addresses.ts";
import { deviceOf } from "#auth/audit.ts";
import { passesCrossSite } from "#auth/cross-site.ts";
import type { GateSettings } from "#auth/settings.ts";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { CLOSE } from "#protocol/socket.ts";
import { originRefused } from "./app.ts";
import type { AuthServices } from "./auth-services.ts";
import type { RequestFacts } from "./facts.ts";
import type { SocketRoute } from "./routing.ts";
import { refuseUpgrade } from "./server.ts";

const FRAME_LIMIT_BYTES = 64 * 1024;

export interface UpgradeDeps {
  readonly sockets: readonly SocketRoute[];
  readonly auth: AuthServices;
  readonly settings: GateSettings;
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
    const strangePeer = deps.auth.gate.mode === "local" && bindIsLoopback && !facts.peerIsLoopback;
    if (strangePeer || !isOwnSite(facts)) {
      originRefused(facts, deps.log);
      const detail = "Requests from this origin are not allowed";
      refuseUpgrade(socket, 403, { detail, code: "origin_not_allowed" });
      return;
    }
    const query = new URLSearchParams(facts.query);
    server ??= openSocketServer();
    void Promise.all([server, identify(query, facts, deps)]).then(([wss, caller]) =>
      wss.handleUpgrade(incoming, socket, head, (ws) => {
        ws.on("error", () => ws.terminate());
        const code = closeCodeFor(caller, deps);
        if (code === null) route.open({ ws, facts, caller, query });
        else closeSocket(ws, deps.clock, code, CLOSE_REASON[code]);
      }),
    );
  };
}

const CLOSE_REASON = {
  [CLOSE.unauthorized]: "unauthorized",
  [CLOSE.tryAgainLater]: "provider unreachable",
} as const;

/** null: it may stay open. */
function closeCodeFor(caller: Caller, { auth }: UpgradeDeps): keyof typeof CLOSE_REASON | null {
  if (caller.kind === "stalled") return CLOSE.tryAgainLater;
  const isAllowed = caller.kind === "local" || caller.kind === "session";
  return isAllowed && auth.isLive(caller) ? null : CLOSE.unauthorized;
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

const RULE: AccessRule = { class: "S" };

/** A ticket is burnt by being presented; a cookie counts only with an Origin, which every browser sends here. */
async function identify(
  query: URLSearchParams,
  facts: RequestFacts,
  deps: UpgradeDeps,
): Promise<Caller> {
  const { gate, tickets } = deps.auth;
  const ticket = query.get("ticket");
  if (ticket !== null) {
    const use = tickets.use(ticket);
    const caller = use.ok ? await deps.auth.ticketCaller(use.owner) : STRANGER;
    if (caller.kind === "stranger") noteFailure(use.ok ? "ended" : use.reason, facts, deps);
    return caller;
  }
  const { cookie: _cookie, ...others } = facts.headers;
  const headers = facts.headers.origin === undefined ? others : facts.headers;
  const caller = await gate.identify(RULE, { ...facts, headers }, query.get("token"));
  if (caller.kind === "stranger" && caller.presented === "token") {
    noteFailure("token", facts, deps);
  }
  return caller;
}

const STRANGER: Caller = { kind: "stranger", presented: "token" };

function noteFailure(reason: string, facts: RequestFacts, { auth }: UpgradeDeps): void {
  auth.failures.hit(limiterKey(facts.client));
  const device = deviceOf(facts.headers["user-agent"]);
  const { client: ip, path } = facts;
  auth.audit.write("ws_ticket_rejected", { reason, ip, path, device });
}

/** Sends the close frame and destroys the socket 2 s later if the other side does not answer. Reason ≤ 123 bytes. */
export function closeSocket(ws: WebSocket, clock: Clock, code: number, reason: string): void {
  ws.close(code, reason.slice(0, 120));
  const timer = clock.after(2000, () => ws.terminate());
  ws.once("close", () => timer.cancel());
}
