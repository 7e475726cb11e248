// The listening socket: limits of dashboard.md §1.5, headers of §2.6 on every answer, HTTP and upgrades through one front.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ALWAYS, CSP_OTHER, HSTS } from "#auth/security-headers.ts";
import type { GateSettings } from "#auth/settings.ts";
import { errnoOf } from "#base/errors.ts";
import { isResponse } from "./answer-response.ts";
import type { DashboardApp, DirectAnswer, PlainAnswer } from "./app.ts";
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
  const known = new WeakMap<IncomingMessage, Known>();
  let listener: Promise<RequestListener> | null = null;
  const hand = (incoming: IncomingMessage, outgoing: ServerResponse, found: Known): void => {
    known.set(incoming, found);
    // The adapter builds a URL from Host and target: it gets a plain one, never the client's.
    incoming.headers.host = "localhost";
    incoming.url = "/";
    if (incoming.method !== "GET" && incoming.method !== "HEAD") linger(incoming, outgoing);
    listener ??= openListener(deps.app, known);
    void listener.then((answer) => answer(incoming, outgoing));
  };
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
      const headers = headersOf(answer, incoming, deps.settings);
      if (!answer.ok) return refuse(answer, headers, outgoing);
      const { facts } = answer;
      const direct = deps.app.direct({ incoming, facts });
      const write = (found: DirectAnswer | null): void => {
        if (found !== null && !isResponse(found)) return writePlain(found, headers, outgoing);
        setHeaders(headers, outgoing);
        hand(incoming, outgoing, { facts, response: found });
      };
      if (direct instanceof Promise) void direct.then(write);
      else write(direct);
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

type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** Loaded at the first request that needs objects of the Fetch standard: Node's own take 40 ms to load. */
async function openListener(
  app: DashboardApp,
  known: WeakMap<IncomingMessage, Known>,
): Promise<RequestListener> {
  const { getRequestListener } = await import("@hono/node-server");
  return getRequestListener(
    (request, bindings) => {
      const incoming = bindings.incoming as IncomingMessage;
      const found = known.get(incoming);
      if (!found) throw new Error("request without facts");
      return found.response ?? app.fetch(request, { incoming, facts: found.facts });
    },
    // Its own cuts the connection half a second after the answer.
    { autoCleanupIncoming: false },
  );
}

interface Known {
  readonly facts: RequestFacts;
  /** Made already; the adapter only writes it. */
  readonly response: Response | null;
}

const LINGER_MS = 30_000;

/**
 * What is left of a refused body is read and dropped for a while: closing on it would reset the connection, and whoever sends
 * first and reads afterwards would never see the answer (RFC 9112 §9.6).
 */
function linger(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.once("finish", () => {
    if (incoming.readableEnded || incoming.destroyed) return;
    const timer = setTimeout(() => incoming.socket.destroy(), LINGER_MS).unref();
    incoming.once("close", () => clearTimeout(timer));
    incoming.resume();
  });
}

/** Names and values in turns, as `writeHead` takes them: one check of the lot is cheaper than one for each. */
type FlatHeaders = readonly string[];

function writePlain(answer: PlainAnswer, headers: FlatHeaders, outgoing: ServerResponse): void {
  const { status, headers: own, cookies, text } = answer;
  // Whoever asked is gone.
  if (outgoing.destroyed) return;
  const length = String(Buffer.byteLength(text));
  if (cookies.length === 0 && isEmpty(own)) {
    outgoing.writeHead(status, [
      ...headers,
      "Content-Type",
      "application/json",
      "Content-Length",
      length,
    ]);
  } else {
    // An answer's own header takes the place of one that all answers have.
    setHeaders(headers, outgoing);
    for (const name in own) outgoing.setHeader(name, own[name] ?? "");
    if (cookies.length > 0) outgoing.setHeader("Set-Cookie", cookies);
    outgoing.writeHead(status, { "Content-Type": "application/json", "Content-Length": length });
  }
  outgoing.end(text);
}

function isEmpty(headers: PlainAnswer["headers"]): boolean {
  return Object.keys(headers).length === 0;
}

const SAME: FlatHeaders = [
  ...ALWAYS.flat(),
  "Content-Security-Policy",
  CSP_OTHER,
  "Cache-Control",
  "no-store",
];

function headersOf(
  answer: FrontAnswer,
  { headers }: IncomingMessage,
  settings: GateSettings,
): FlatHeaders {
  const flat = [...SAME, "X-Request-Id", answer.ok ? answer.facts.id : answer.id];
  if (!answer.ok) return flat;
  if (settings.hsts && answer.facts.https) flat.push("Strict-Transport-Security", HSTS);
  if (settings.corsOrigins.length === 0) return flat;
  flat.push("Vary", "Origin");
  const { origin } = headers;
  if (origin !== undefined && settings.corsOrigins.includes(origin)) {
    flat.push("Access-Control-Allow-Origin", origin);
  }
  return flat;
}

function setHeaders(headers: FlatHeaders, outgoing: ServerResponse): void {
  for (let at = 0; at < headers.length; at += 2) {
    outgoing.setHeader(headers[at] ?? "", headers[at + 1] ?? "");
  }
}

function refuse(
  answer: Extract<FrontAnswer, { ok: false }>,
  headers: FlatHeaders,
  outgoing: ServerResponse,
): void {
  const text = JSON.stringify({ detail: answer.detail, code: answer.code });
  setHeaders(headers, outgoing);
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
