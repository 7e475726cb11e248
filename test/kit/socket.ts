// A tab's socket: collects frames, sends frames, remembers how it was closed.
import { WebSocket } from "ws";
import type { ClientFrame, ServerFrame } from "#protocol/socket.ts";
import { until } from "./until.ts";

type EventFrame = Extract<ServerFrame, { type: "event" }>;

export interface TestSocket {
  readonly ws: WebSocket;
  readonly frames: readonly ServerFrame[];
  readonly closed: { readonly code: number; readonly reason: string } | null;
  send(frame: ClientFrame | string | object): void;
  events(session: string): readonly EventFrame[];
  /** Text of all deltas of the session, in order. */
  text(session: string): string;
  cut(): void;
}

export interface SocketOptions {
  readonly token?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly autoPong?: boolean;
}

/** Resolves when the socket is open, or was refused after being opened. */
export async function openSocket(url: string, options: SocketOptions = {}): Promise<TestSocket> {
  const query = options.query ?? (options.token === undefined ? "" : `?token=${options.token}`);
  const ws = new WebSocket(`${url.replace("http", "ws")}/api/ws${query}`, {
    headers: { ...options.headers },
    autoPong: options.autoPong ?? true,
  });
  const frames: ServerFrame[] = [];
  let closed: TestSocket["closed"] = null;
  ws.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString("utf8")) as ServerFrame));
  ws.on("close", (code, reason) => {
    closed = { code, reason: reason.toString("utf8") };
  });
  ws.on("error", () => undefined);
  const socket: TestSocket = {
    ws,
    frames,
    get closed() {
      return closed;
    },
    send: (frame) => ws.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
    events: (session) =>
      frames.filter((frame) => frame.type === "event" && frame.session === session) as EventFrame[],
    text: (session) =>
      socket
        .events(session)
        .map(({ event }) => (event.type === "text-delta" ? event.text : ""))
        .join(""),
    cut: () => ws.terminate(),
  };
  await until("the socket opens or closes", () => frames.length > 0 || closed !== null);
  return socket;
}
