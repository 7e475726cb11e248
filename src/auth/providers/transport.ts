// One request to an issuer, whole or not at all. Loaded lazily: undici is heavy (see proxy.ts on the static import).
import { fetch } from "undici";
import { openRoutes, type ProxySettings } from "./proxy.ts";

export interface RawRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  readonly limitBytes: number;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Decoded; null: longer than the limit, and the rest was not read. */
  readonly body: Buffer | null;
}

export type Transport = (url: URL, request: RawRequest) => Promise<RawAnswer>;

export function openTransport(proxy: ProxySettings): Transport {
  const routes = openRoutes(proxy);
  return async (url, { method, headers, body, signal, limitBytes }) => {
    const dispatcher = routes.towards(url);
    const options = { method, headers, body, signal, dispatcher, redirect: "manual" } as const;
    const response = await fetch(url, options);
    const bytes = await readUpTo(response.body, limitBytes);
    return { status: response.status, headers: new Headers([...response.headers]), body: bytes };
  };
}

type Chunks = AsyncIterable<Uint8Array> | null;

/** Leaving the loop early cancels the stream, which closes the connection. */
async function readUpTo(chunks: Chunks, limitBytes: number): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks ?? []) {
    size += chunk.byteLength;
    if (size > limitBytes) return null;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
