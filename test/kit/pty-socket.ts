// A viewer of /api/pty that is no browser.
import { WebSocket } from "ws";
import { until } from "./until.ts";

export interface PtySocket {
  readonly ws: WebSocket;
  /** Binary frames so far, as text. */
  output(): string;
  /** Text frames: what the server says itself. */
  readonly said: readonly string[];
  readonly closed: { readonly code: number; readonly reason: string } | null;
  type(text: string): void;
  cut(): void;
}

export interface PtySocketOptions {
  /** Without "?". */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves when the socket is open; it may be closed right after. */
export async function openPty(url: string, options: PtySocketOptions = {}): Promise<PtySocket> {
  const address = `${url.replace("http", "ws")}/api/pty?${options.query ?? ""}`;
  const ws = new WebSocket(address, { headers: { ...options.headers } });
  const chunks: Buffer[] = [];
  const said: string[] = [];
  let closed: PtySocket["closed"] = null;
  let isOpen = false;
  ws.on("open", () => (isOpen = true));
  ws.on("message", (data: Buffer, isBinary) => {
    if (isBinary) chunks.push(data);
    else said.push(data.toString("utf8"));
  });
  ws.on("close", (code, reason) => {
    closed = { code, reason: reason.toString("utf8") };
  });
  ws.on("error", () => undefined);
  await until("the terminal's socket opens", () => isOpen || closed !== null);
  return {
    ws,
    output: () => Buffer.concat(chunks).toString("utf8"),
    said,
    get closed() {
      return closed;
    },
    type: (text) => ws.send(text),
    cut: () => ws.terminate(),
  };
}
