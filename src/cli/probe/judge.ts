// What an answer to GET /api/status says about an agent: pure (dashboard.md §13).
import { canonicalHost } from "#auth/addresses.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { cutStart } from "#base/text.ts";
import { TOO_LONG, type Outcome } from "./outcome.ts";

export type ProbeState = "running" | "gated" | "starting" | "down";

export interface Verdict {
  /** Some HTTP answer came, whatever it says. */
  readonly alive: boolean;
  readonly state: ProbeState;
  readonly code: number | null;
  readonly auth_required: boolean | null;
  readonly version: string | null;
  /** Passed on, not judged: an agent without a running gateway is a running agent. */
  readonly gateway_state: string | null;
  /** null: nothing is wrong. */
  readonly reason: string | null;
}

/** One entry of `results`. */
export interface ProbeResult extends Verdict {
  /** As it was given. */
  readonly url: string;
  readonly ms: number;
}

const HIDDEN =
  "something in front hides the status: a wall of another product, or a wrong public list";
const NOT_ALLOWED = "the name is not in dashboard.allowed_hosts";
/** Another server answers there. */
export const FOREIGN = "foreign";
/** Text of a server that may not be ours is kept short. */
const MOST_CHARACTERS = 100;

/** Only these two are told apart by their body; the others must not wait for one. */
export function needsBody(status: number): boolean {
  return status === 200 || status === 400;
}

export function judge(outcome: Outcome, asked: URL): Verdict {
  if (outcome.kind === "failed") return verdict("down", null, outcome.reason);
  const { status } = outcome;
  const code = String(status);
  if (status === 200) return judgeOk(outcome);
  if (status === 401 || status === 403) return verdict("gated", status, HIDDEN);
  if (status >= 300 && status <= 399 && leadsAway(outcome.location, asked))
    return verdict("gated", status, HIDDEN);
  if (status === 400 && at(parseObject(outcome.body), "code") === "bad_host")
    return verdict("gated", status, NOT_ALLOWED);
  if (status === 502 || status === 503 || status === 504) return verdict("starting", status, code);
  return verdict("down", status, status === 404 ? FOREIGN : code);
}

function judgeOk({ body, cut, status }: Extract<Outcome, { kind: "answered" }>): Verdict {
  if (cut !== null) return verdict("down", status, cut === TOO_LONG ? FOREIGN : cut);
  const found = parseObject(body);
  const version = at(found, "version");
  const authRequired = at(found, "auth_required");
  if (typeof version !== "string" || typeof authRequired !== "boolean")
    return verdict("down", status, FOREIGN);
  const gateway = at(found, "gateway_state");
  return {
    ...verdict("running", status, null),
    auth_required: authRequired,
    version: cutStart(version, MOST_CHARACTERS),
    gateway_state: typeof gateway === "string" ? cutStart(gateway, MOST_CHARACTERS) : null,
  };
}

function verdict(state: ProbeState, code: number | null, reason: string | null): Verdict {
  const known = { auth_required: null, version: null, gateway_state: null };
  return { alive: code !== null, state, code, ...known, reason };
}

/** To a path ending `/login`, or to another host. Its port does not count: `http://h:80` to `https://h:443` is no wall. */
function leadsAway(location: string | null, asked: URL): boolean {
  const target = location === null ? null : URL.parse(location, asked);
  if (target === null) return false;
  const isOtherHost = canonicalHost(target.hostname) !== canonicalHost(asked.hostname);
  return isOtherHost || target.pathname.replace(/\/$/, "").endsWith("/login");
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function at(value: object | null, key: string): unknown {
  return value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/** `expect` given: only the codes decide. */
export function exitOf(results: readonly Verdict[], expect: number | null): ExitCode {
  if (expect !== null) return results.every(({ code }) => code === expect) ? EXIT.ok : EXIT.failed;
  if (results.some(({ state }) => state === "down")) return EXIT.failed;
  return results.some(({ state }) => state === "starting") ? EXIT.restart : EXIT.ok;
}
