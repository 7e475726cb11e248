// One small JSON request with a time and a size limit, for servers that may not be there at all.

export interface JsonRequest {
  readonly url: string;
  readonly timeoutMs: number;
  /** Given: POST with this JSON body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The parsed body of a 200 answer, or null for anything else: no answer, another status, a redirect (which could carry a
 * key elsewhere), too large, not JSON. Never throws.
 */
export async function fetchJson(request: JsonRequest): Promise<unknown> {
  const limit = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
  try {
    const response = await fetch(request.url, {
      method: request.body === undefined ? "GET" : "POST",
      headers: { accept: "application/json", ...jsonType(request.body), ...request.headers },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      redirect: "error",
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return null;
    }
    return JSON.parse(await readLimited(response)) as unknown;
  } catch {
    return null;
  }
}

function jsonType(body: unknown): Record<string, string> {
  return body === undefined ? {} : { "content-type": "application/json" };
}

async function readLimited(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MOST_BYTES) throw new Error("answer too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Reads a path of keys in an unknown value; undefined where it is not there. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key))
      return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

export function listAt(value: unknown, key: string): readonly unknown[] | null {
  const found = at(value, key);
  return Array.isArray(found) ? found : null;
}

/** A positive whole number, else null. */
export function tokensOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
