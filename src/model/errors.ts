// From a thrown thing to a kind of agent.md §3.5 and one sentence for the user.
import { nearestWords } from "#base/text.ts";
import type { ModelError, ModelErrorKind } from "#protocol/model-errors.ts";
import { contextHit } from "./context-text.ts";
import { errorFacts, type ErrorFacts } from "./error-facts.ts";

/** What the sentences name. */
export interface ErrorSubject {
  readonly provider: string;
  /** Provider's name for people. */
  readonly label: string;
  readonly host: string;
  readonly model: string;
  /** Variable or setting whose key was sent, null when none was. */
  readonly keyName: string | null;
  /** Ids to look for near ones when the provider does not know the model. */
  readonly knownModels: readonly string[];
  /** Takes secrets out. */
  readonly redact: (text: string) => string;
  /** Milliseconds since 1970, for a Retry-After date. */
  readonly nowMs: () => number;
}

/** Never throws. `logDetail` is redacted and goes to logs/errors.log only. */
export function toModelError(error: unknown, subject: ErrorSubject): ModelError {
  const facts = errorFacts(error);
  const kind = kindOf(facts);
  const hit = kind === "context" ? contextHit(`${facts.text}\n${facts.raw}`) : null;
  const retryAfterMs = retryAfter(facts.headers["retry-after"], subject.nowMs());
  const code = kind === "network" ? facts.networkCode : null;
  return {
    kind,
    message: subject.redact(sentence(kind, facts, subject)),
    ...(facts.status === null ? {} : { status: facts.status }),
    ...(code === null ? {} : { code }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(hit === null || hit.limit === null ? {} : { contextLimit: hit.limit }),
    logDetail: subject.redact(facts.raw),
  };
}

/** An error of ours: no provider said it. */
export function ownError(
  kind: "aborted" | "filtered" | "empty" | "garbled",
  subject: ErrorSubject,
): ModelError {
  return { kind, message: OWN_SENTENCES[kind](subject) };
}

const OWN_SENTENCES = {
  aborted: () => "Interrupted.",
  filtered: (subject) => `The answer was blocked by ${subject.label}.`,
  empty: (subject) => `${subject.label} sent an unusable answer: neither text nor a tool call.`,
  garbled: (subject) => `${subject.label} sent an unusable answer: it ended in the middle.`,
} as const satisfies Readonly<Record<string, (subject: ErrorSubject) => string>>;

const BILLING =
  /insufficient[_ ](quota|credits?|balance|funds)|credit balance is too low|billing_error/i;
const MODEL_MISSING = /model_not_found|not a valid model|model .{0,80}(not found|does not exist)/i;

export function kindOf(facts: ErrorFacts): ModelErrorKind {
  const { status } = facts;
  const words = `${facts.type} ${facts.code} ${facts.text}`;
  if (status === null) return kindWithoutStatus(facts, words);
  if (status === 401 || status === 403) return "auth";
  if (status === 402 || (status < 500 && BILLING.test(words))) return "billing";
  if (facts.code === "context_length_exceeded") return "context";
  if ((status === 400 || status === 413) && contextHit(`${facts.text}\n${facts.raw}`) !== null)
    return "context";
  if (status === 404 || (status < 500 && MODEL_MISSING.test(words))) return "model-missing";
  if (status === 429) return "rate-limit";
  if (status === 503 || status === 529 || /overloaded/i.test(`${facts.type} ${facts.code}`))
    return "overloaded";
  if (status >= 500 || status === 408 || status === 409 || status === 425) return "server";
  return "bad-request";
}

function kindWithoutStatus(facts: ErrorFacts, words: string): ModelErrorKind {
  if (facts.networkCode !== null) return "network";
  if (/overloaded/i.test(words)) return "overloaded";
  if (facts.code === "context_length_exceeded" || contextHit(facts.text) !== null) return "context";
  if (BILLING.test(words)) return "billing";
  if (/rate_limit|too many requests/i.test(words)) return "rate-limit";
  if (/^(server_error|api_error|internal_error|internal_server_error)$/i.test(facts.type))
    return "server";
  return isOurs(facts) ? "bad-request" : "garbled";
}

/** Our side could not even make the request: trying again changes nothing. */
function isOurs({ status, name }: ErrorFacts): boolean {
  return (
    status === null &&
    /^(TypeError|RangeError|ReferenceError|AI_(InvalidPrompt|MissingToolResults|InvalidArgument|UnsupportedFunctionality|InvalidMessageRole))/.test(
      name,
    )
  );
}

const SHOWN_CHARACTERS = 300;

function sentence(kind: ModelErrorKind, facts: ErrorFacts, subject: ErrorSubject): string {
  switch (kind) {
    case "auth":
      return authSentence(facts, subject);
    case "billing":
      return `The account at ${subject.label} has no credit left: add credit there, or choose another provider (hermes model).`;
    case "model-missing":
      return missingSentence(facts, subject);
    case "rate-limit":
      return `${subject.label} limits the rate of requests.`;
    case "overloaded":
      return `${subject.label} is busy.`;
    case "server":
      return `${subject.label} had an error${facts.status === null ? "" : ` (${facts.status})`}.`;
    case "network":
      return `Cannot reach ${subject.host}: ${facts.networkCode ?? "connection failed"}.`;
    case "context":
      return `The conversation is too long for ${subject.model}.`;
    case "bad-request":
      return badRequestSentence(facts, subject);
    case "garbled":
      return `${subject.label} sent an unusable answer.`;
    case "stalled":
    case "filtered":
    case "empty":
    case "aborted":
      return `${subject.label} did not answer.`;
    default:
      return kind satisfies never;
  }
}

function authSentence(facts: ErrorFacts, subject: ErrorSubject): string {
  if (subject.keyName === null) {
    const setting = `providers.${subject.provider}.key_env`;
    return `${subject.host} wants a key and none was sent: name its variable in ${setting}.`;
  }
  const verb = facts.status === 403 ? "not allowed to do this" : "rejected";
  return `Key ${subject.keyName} was ${verb} by ${subject.host}: set a valid one with hermes config set ${subject.keyName} - (or in .env).`;
}

function missingSentence(facts: ErrorFacts, subject: ErrorSubject): string {
  if (
    facts.status === 404 &&
    facts.type === "" &&
    facts.code === "" &&
    !/model/i.test(facts.text)
  ) {
    return `${subject.host} has no such path (404): does the base URL end in /v1?`;
  }
  const near = nearestWords(subject.model, subject.knownModels);
  const hint =
    near.length > 0
      ? `: did you mean ${near.join(", ")}?`
      : ` (hermes model list --provider ${subject.provider}).`;
  return `Model ${subject.model} is unknown to ${subject.label}${hint}`;
}

function badRequestSentence(facts: ErrorFacts, subject: ErrorSubject): string {
  if (facts.status !== null && facts.status < 400) {
    return `${subject.host} answered with a redirect (${facts.status}), which is not followed: set the base URL to where it leads.`;
  }
  // Redacted before the cut, so that a cut cannot leave half of a secret that nobody recognises.
  const text = subject.redact(facts.text).replaceAll(/\s+/g, " ").trim().slice(0, SHOWN_CHARACTERS);
  if (isOurs(facts)) return `The request to ${subject.label} could not be made: ${text}`;
  return `${subject.label} refused the request${facts.status === null ? "" : ` (${facts.status})`}: ${text}`;
}

/** Milliseconds from `Retry-After`: seconds or an HTTP date (RFC 9110 §10.2.3). null: absent or unreadable. */
export function retryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined || value.trim() === "") return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.round(seconds * 1000) : null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
