// HTTP pieces of the scripted model server.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Wire } from "./model-wires.ts";

declare module "node:http" {
  interface ServerResponse {
    /** Set when the server itself destroyed the socket: that is no abort of the client. */
    locals?: { cut: boolean };
  }
}

export function cut(response: ServerResponse): void {
  response.locals = { cut: true };
  response.destroy();
}

/** Sends at most `left` bytes and cuts the socket when they are used up. Returns what is left. */
export async function sendPiece(
  response: ServerResponse,
  piece: string,
  left: number,
): Promise<number> {
  const bytes = Buffer.from(piece, "utf8");
  if (bytes.length < left) {
    response.write(bytes);
    return left - bytes.length;
  }
  await new Promise<void>((resolve) => {
    response.write(bytes.subarray(0, left), () => resolve());
  });
  cut(response);
  return 0;
}

export function delay(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export function sendWhole(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  const isText = typeof body === "string";
  response.writeHead(status, {
    "content-type": isText ? "text/plain" : "application/json",
    ...headers,
  });
  response.end(isText ? body : JSON.stringify(body));
}

export function wireOfPath(path: string): Wire | null {
  if (path.endsWith("/chat/completions")) return "openai-chat";
  return path.endsWith("/messages") ? "anthropic-messages" : null;
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
