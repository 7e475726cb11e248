// What a sender of webhooks is told: short JSON, nothing of the inside.
import type { ServerResponse } from "node:http";
import { HermesError } from "#base/errors.ts";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The rest of the body is not read. */
  readonly close?: boolean;
}

export function send(outgoing: ServerResponse, { status, body, headers, close }: Answer): void {
  if (outgoing.destroyed) return;
  const text = JSON.stringify(body);
  outgoing.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    ...headers,
    ...(close ? { Connection: "close" } : {}),
  });
  outgoing.end(text);
}

export function toErrorWord(error: unknown): string {
  return error instanceof HermesError && error.code === "STORE_CORRUPT"
    ? "storage damaged"
    : "storage not available";
}
