// The HTTP client below the SDK: no time limits of its own (the loop's watchdogs decide), no redirects, signs of life.
// Loaded lazily with sdk.ts. The import is static on purpose: bundled, a dynamic import of a CommonJS package has no names.
import { Agent, fetch } from "undici";

const CONNECT_TIMEOUT_MS = 15_000;

/** Node's own fetch gives up after 300 s without a byte; a local model may think longer (agent.md §3.2: 900 s). */
const agent = new Agent({
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { timeout: CONNECT_TIMEOUT_MS },
});

export interface SeenResponse {
  /** Content type of the last answer; empty before. */
  contentType: string;
}

/**
 * A fetch for one call. A redirect is handed back as it is: following it could carry a key to another host (product.md
 * D21). `onHeaders` is called when the answer's headers are there.
 */
export function createFetch(seen: SeenResponse, onHeaders: () => void): typeof globalThis.fetch {
  return async (input, init) => {
    const options = { ...init, redirect: "manual", dispatcher: agent } as Parameters<
      typeof fetch
    >[1];
    const response = await fetch(input, options);
    seen.contentType = response.headers.get("content-type") ?? "";
    onHeaders();
    return response;
  };
}
