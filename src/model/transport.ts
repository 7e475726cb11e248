// The HTTP client below the SDK: no time limits of its own (the loop's watchdogs decide), no redirects, signs of life.
import type { Agent, fetch as UndiciFetch } from "undici";

const CONNECT_TIMEOUT_MS = 15_000;

let shared: Promise<{
  readonly fetch: typeof UndiciFetch;
  readonly agent: Agent;
}> | null = null;

/** Node's own fetch gives up after 300 s without a byte; a local model may think longer (agent.md §3.2: 900 s). */
async function openClient(): Promise<{
  readonly fetch: typeof UndiciFetch;
  readonly agent: Agent;
}> {
  const { Agent, fetch } = await import("undici");
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  return { fetch, agent };
}

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
    shared ??= openClient();
    const { fetch, agent } = await shared;
    const options = { ...init, redirect: "manual", dispatcher: agent } as Parameters<
      typeof fetch
    >[1];
    const response = await fetch(input, options);
    seen.contentType = response.headers.get("content-type") ?? "";
    onHeaders();
    return response;
  };
}
