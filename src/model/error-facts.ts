// Reads what can be read from whatever the SDK, a provider or the network threw; by shape, so that nothing is imported.

export interface ErrorFacts {
  /** HTTP status, or what the provider says instead of one in mid-stream; null without. */
  readonly status: number | null;
  /** Provider's words: error type and code. */
  readonly type: string;
  readonly code: string;
  /** Provider's sentence, never shown as it is. */
  readonly text: string;
  /** Everything, for the log. */
  readonly raw: string;
  readonly headers: Readonly<Record<string, string>>;
  /** errno or TLS word of a network failure, null when it is none. */
  readonly networkCode: string | null;
  /** Class name: `AI_APICallError`, `AbortError`, … */
  readonly name: string;
}

type Bag = Readonly<Record<string, unknown>>;

const MOST_CAUSES = 8;

export function errorFacts(error: unknown): ErrorFacts {
  const top = bagOf(error);
  const body = providerBody(top);
  const inner = bagOf(body["error"] ?? body);
  const text =
    [stringOf(inner["message"]), stringOf(body["error"])].find((part) => part !== "") ??
    stringOf(top["message"]);
  return {
    status: statusOf(top, inner),
    type: stringOf(inner["type"]) || stringOf(top["type"]),
    code: stringOf(inner["code"]) || stringOf(top["code"]),
    text,
    raw: rawOf(error, top),
    headers: headersOf(top["responseHeaders"]),
    networkCode: networkCodeOf(error),
    name: error instanceof Error ? error.name : "",
  };
}

function bagOf(value: unknown): Bag {
  return typeof value === "object" && value !== null ? (value as Bag) : {};
}

function stringOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : "";
}

/** The JSON that the provider sent, wherever the SDK put it. */
function providerBody(top: Bag): Bag {
  if (typeof top["responseBody"] === "string") {
    try {
      return bagOf(JSON.parse(top["responseBody"]));
    } catch {
      return {};
    }
  }
  return top["data"] === undefined ? top : bagOf(top["data"]);
}

/** Routers put the upstream's status into `code` of a mid-stream error. */
function statusOf(top: Bag, inner: Bag): number | null {
  for (const value of [top["statusCode"], inner["status_code"], inner["code"], top["code"]]) {
    const status = Number(value);
    if (Number.isInteger(status) && status >= 300 && status <= 599) return status;
  }
  return null;
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(bagOf(value)).map(([name, text]) => [
    name.toLowerCase(),
    stringOf(text),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function rawOf(error: unknown, top: Bag): string {
  const parts = [
    error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error ?? null),
  ];
  if (typeof top["responseBody"] === "string") parts.push(top["responseBody"]);
  const causes = causeChain(error)
    .slice(1)
    .map((cause) => (cause instanceof Error ? cause.message : ""));
  return [...parts, ...causes.filter((text) => text !== "")].join("\n").slice(0, 4000);
}

/** Words that undici, net, dns and TLS use; an HTTP error never counts. */
const NETWORK_CODE =
  /^(E(?!RROR)[A-Z]+|EAI_\w+|UND_ERR_\w+|ERR_(TLS|SSL|STREAM_PREMATURE_CLOSE)\w*|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED)$/;

/** undici's words for what everybody else calls by errno. */
const PLAIN_CODES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "ECONNRESET",
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
};

export function networkCodeOf(error: unknown): string | null {
  for (const cause of causeChain(error)) {
    const code = bagOf(cause)["code"];
    if (typeof code === "string" && NETWORK_CODE.test(code)) return PLAIN_CODES[code] ?? code;
  }
  const terminated = causeChain(error).some(
    (cause) => cause instanceof TypeError && /^(terminated|fetch failed)$/i.test(cause.message),
  );
  return terminated ? "ECONNRESET" : null;
}

/** The error, its causes and the errors that an AggregateError holds, outermost first. */
function causeChain(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let next: readonly unknown[] = [error];
  while (next.length > 0 && chain.length < MOST_CAUSES) {
    chain.push(...next);
    next = next.flatMap((value) => {
      const bag = bagOf(value);
      const inside = Array.isArray(bag["errors"]) ? (bag["errors"] as unknown[]).slice(0, 2) : [];
      return bag["cause"] === undefined ? inside : [bag["cause"], ...inside];
    });
  }
  return chain;
}
