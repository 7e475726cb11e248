// From the command line to what is to be asked; every mistake in it is 64 before anything is sent.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { usageError, type CommandLine, type OptionValues } from "../command-line.ts";
import { listOption, numberOption, textOption } from "../context.ts";

/** An agent: its address as given, and the address that is asked. */
export interface Target {
  readonly given: string;
  readonly url: URL;
}

interface Common {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export type ProbeOrder =
  | { readonly kind: "self" }
  | (Common & { readonly kind: "raw"; readonly url: URL })
  | (Common & {
      readonly kind: "agents";
      readonly targets: readonly Target[];
      readonly concurrency: number;
      /** The one code that counts as good; null: the states decide. */
      readonly expect: number | null;
    });

const DEFAULTS = { timeoutSeconds: 5, concurrency: 32 } as const;

/** Throws HermesError USAGE (64). No message holds a header's value, a password or a query. */
export function parseOrder({
  options,
  operands,
}: Pick<CommandLine, "options" | "operands">): ProbeOrder {
  if (options["self"] === true) {
    refuseBeside(
      "--self",
      ["raw", "concurrency", "expect", "header", "timeout"],
      options,
      operands,
    );
    return { kind: "self" };
  }
  const common: Common = {
    headers: { "user-agent": "hermes-probe", ...parseHeaders(listOption(options, "header")) },
    timeoutMs: 1000 * (inRange(options, "timeout", 1, 3600) ?? DEFAULTS.timeoutSeconds),
  };
  const raw = textOption(options, "raw");
  if (raw !== undefined) {
    refuseBeside("--raw", ["concurrency", "expect"], options, operands);
    return { ...common, kind: "raw", url: parseAddress(raw) };
  }
  if (operands.length === 0) {
    throw usageError("hermes probe needs URL.", "Read: hermes help probe");
  }
  return {
    ...common,
    kind: "agents",
    targets: operands.map(parseTarget),
    concurrency: inRange(options, "concurrency", 1, 1000) ?? DEFAULTS.concurrency,
    expect: inRange(options, "expect", 100, 599) ?? null,
  };
}

function refuseBeside(
  flag: string,
  names: readonly string[],
  options: OptionValues,
  operands: readonly string[],
): void {
  const other = names.find((name) => options[name] !== undefined);
  if (other !== undefined) throw usageError(`--${other} has no meaning with ${flag}.`);
  if (operands.length === 0) return;
  const asked =
    flag === "--raw" ? "one address: it does not take further ones" : "this container only";
  throw usageError(`${flag} asks ${asked}.`);
}

function inRange(options: OptionValues, name: string, least: number, most: number): number | null {
  const value = numberOption(options, name);
  if (value === undefined || (value >= least && value <= most)) return value ?? null;
  throw usageError(`--${name}: ${value} is not a whole number from ${least} to ${most}.`);
}

/** `https://h/hermes/` asks `https://h/hermes/api/status`. */
function parseTarget(given: string): Target {
  const url = parseAddress(given);
  if (url.search !== "" || url.hash !== "") {
    throw usageError(
      `${withoutSecrets(given)}: the address of an agent has no query and no fragment.`,
      "Ask an exact address: hermes probe --raw URL",
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/api/status`;
  return { given, url };
}

function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${withoutSecrets(text)} is not an http:// or https:// address.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw usageError(
      `${withoutSecrets(text)}: user name and password do not belong in an address.`,
      "Give them with --header Authorization:…",
    );
  }
  return url;
}

function withoutSecrets(text: string): string {
  return text.replace(/[?#].*/su, "").replace(/[^/]*@/u, "…@");
}

/** They describe a body or ask to wait for one; a probe sends none. */
const OF_A_BODY: readonly string[] = ["content-length", "transfer-encoding", "trailer", "expect"];

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (colon === -1 || !isHeader(name, value)) {
      throw usageError("--header: wants NAME:VALUE as HTTP allows it (RFC 9110 §5).");
    }
    if (Object.hasOwn(headers, name)) throw usageError(`--header: ${name} is given twice.`);
    if (OF_A_BODY.includes(name))
      throw usageError(`--header: ${name} cannot be set, a probe has no body.`);
    headers[name] = value;
  }
  return headers;
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
