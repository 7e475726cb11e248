// The listening socket: limits of dashboard.md §1.5, headers of §2.6 on every answer, HTTP and upgrades through one front.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { ALWAYS, CSP_OTHER, HSTS } from "#auth/security-headers.ts";
import type { GateSettings } from "#auth/settings.ts";
import { errnoOf } from "#base/errors.ts";
import type { DashboardApp } from "./app.ts";
import type { RequestFacts } from "./facts.ts";
import type { Front, FrontAnswer } from "./front.ts";

export interface ServerDeps {
  readonly front: Front;
  readonly app: DashboardApp;
  readonly settings: GateSettings;
  readonly upgrade: (
    facts: RequestFacts,
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => void;
}

export function createHttpServer(deps: ServerDeps): Server {
  const known = new WeakMap<IncomingMessage, RequestFacts>();
  const listener = getRequestListener((request, bindings) => {
    const incoming = bindings.incoming as IncomingMessage;
    const facts = known.get(incoming);
    if (!facts) throw new Error("request without facts");
    return deps.app.fetch(request, { incoming, facts });
  });
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 15_000,
      // The longest body is an upload; JSON bodies have their own 60 s (body.ts).
      requestTimeout: 600_000,
      keepAliveTimeout: 75_000,
      // A missing Host gets our answer, not a bare 400.
      requireHostHeader: false,
      // An offer of another HTTP version (`curl --http2`, Java's client) is ignored: RFC 9110 §7.8.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
      // Otherwise Node looks for late headers every 30 s only.
      connectionsCheckingInterval: 2000,
    },
    (incoming, outgoing) => {
      const answer = deps.front(incoming);
      setHeaders(answer, incoming, outgoing, deps.settings);
      if (!answer.ok) return refuse(answer, outgoing);
      known.set(incoming, answer.facts);
      // The adapter builds a URL from Host and target: it gets a plain one, never the client's.
      incoming.headers.host = "localhost";
      incoming.url = "/";
      void listener(incoming, outgoing);
    },
  );
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const answer = deps.front(incoming);
    if (answer.ok) deps.upgrade(answer.facts, incoming, socket, head);
    else refuseUpgrade(socket, 400, { detail: answer.detail, code: answer.code });
  });
  return server;
}

function setHeaders(
  answer: FrontAnswer,
  { headers }: IncomingMessage,
  outgoing: ServerResponse,
  settings: GateSettings,
): void {
  for (const [name, value] of ALWAYS) outgoing.setHeader(name, value);
  outgoing.setHeader("X-Request-Id", answer.ok ? answer.facts.id : answer.id);
  outgoing.setHeader("Content-Security-Policy", CSP_OTHER);
  outgoing.setHeader("Cache-Control", "no-store");
  if (!answer.ok) return;
  if (settings.hsts && answer.facts.https) outgoing.setHeader("Strict-Transport-Security", HSTS);
  if (settings.corsOrigins.length === 0) return;
  outgoing.setHeader("Vary", "Origin");
  const { origin } = headers;
  if (origin !== undefined && settings.corsOrigins.includes(origin)) {
    outgoing.setHeader("Access-Control-Allow-Origin", origin);
  }
}

function refuse(answer: Extract<FrontAnswer, { ok: false }>, outgoing: ServerResponse): void {
  const text = JSON.stringify({ detail: answer.detail, code: answer.code });
  outgoing.writeHead(400, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    Connection: "close",
  });
  outgoing.end(text);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  503: "Service Unavailable",
};

/** An HTTP answer instead of 101. */
export function refuseUpgrade(socket: Duplex, status: number, body: object): void {
  const text = JSON.stringify(body);
  socket.end(
    [
      `HTTP/1.1 ${status} ${REASONS[status] ?? ""}`,
      "Connection: close",
      "Content-Type: application/json",
      "Cache-Control: no-store",
      "X-Content-Type-Options: nosniff",
      `Content-Length: ${Buffer.byteLength(text)}`,
      "",
      text,
    ].join("\r\n"),
  );
}

/** Resolves with the real port. Rejects with the system's error. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, ipv6Only: false }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

/** True for the errors that mean "somebody else has this port". */
export function isPortBusy(error: unknown): boolean {
  return errnoOf(error) === "EADDRINUSE";
}
