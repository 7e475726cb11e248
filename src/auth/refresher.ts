// Asking a provider again whether a login still holds (dashboard.md §6.3). Issuers end the whole chain when a rotating token
// is used twice: one call per session at a time, and what came back is on disk before anybody goes on (field-rules G01).
import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import type { Audit } from "./audit.ts";
import { createMinuteOnce } from "./minute-once.ts";
import { callProvider } from "./provider-call.ts";
import { isAuthError } from "./providers/auth-error.ts";
import type { RedirectProvider, Tokens } from "./providers/provider.ts";
import type { ProviderRegistry } from "./providers/registry.ts";
import type { SessionRecords } from "./sessions/records.ts";
import type { Session } from "./sessions/session.ts";

/** `stalled`: live, but the provider has been away for longer than the grace. */
export type Standing = "live" | "dead" | "stalled";

const EARLY_SECONDS = 60;
const GRACE_SECONDS = 900;
const RETRY_MS = 5_000;
const REUSE_MS = 30_000;

export interface Refresher {
  /** Without a call. */
  peek(session: Session): "live" | "stalled";
  /** A promise only when the access token ended and the answer must be waited for. `id`: null, the call cannot be made. */
  ensure(id: string | null, session: Session): Standing | Promise<Standing>;
  /** Resolves when no call is under way: a stop that cut one off would lose the token that comes back. */
  settled(): Promise<void>;
}

export interface RefresherDeps {
  readonly records: SessionRecords;
  readonly providers: ProviderRegistry;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly log: Log;
}

interface Attempts {
  running: Promise<Standing> | null;
  failedAt: number;
  refreshedAt: number;
}

export function createRefresher(deps: RefresherDeps): Refresher {
  const { records, clock } = deps;
  const attempts = new Map<string, Attempts>();
  records.onEnd(({ digest }) => void attempts.delete(digest));
  const failures = createFailureLog(deps);

  const stateOf = ({ digest }: Session): Attempts => {
    const found = attempts.get(digest);
    if (found) return found;
    const made = { running: null, failedAt: -Infinity, refreshedAt: -Infinity };
    attempts.set(digest, made);
    return made;
  };
  const start = (id: string, session: Session, state: Attempts): Promise<Standing> => {
    state.running ??= refresh(id, session, state, deps, failures).finally(() => {
      state.running = null;
    });
    return state.running;
  };
  const grace = (session: Session): "live" | "stalled" => {
    const end = session.accessExpiresAt;
    return end === null || clock.now() / 1000 < end + GRACE_SECONDS ? "live" : "stalled";
  };

  return {
    peek: grace,
    ensure(id, session) {
      const end = session.accessExpiresAt;
      const now = clock.now() / 1000;
      if (end === null || now < end - EARLY_SECONDS) return "live";
      const state = stateOf(session);
      if (state.running && now >= end) return state.running;
      if (clock.monotonicMs() - state.refreshedAt < REUSE_MS) return "live";
      if (id === null || clock.monotonicMs() - state.failedAt < RETRY_MS) return grace(session);
      const running = start(id, session, state);
      if (now >= end) return running;
      running.catch(() => undefined);
      return "live";
    },
    async settled() {
      await Promise.allSettled([...attempts.values()].flatMap(({ running }) => running ?? []));
    },
  };
}

type FailureLog = (session: Session, code: string, dead: boolean) => void;

async function refresh(
  id: string,
  session: Session,
  state: Attempts,
  deps: RefresherDeps,
  failed: FailureLog,
): Promise<Standing> {
  const { records, clock } = deps;
  const provider = deps.providers.loginProvider(session.provider);
  const tokens = records.tokensOf(id);
  if (provider?.kind !== "redirect" || !tokens?.refresh) return endSession(session, deps, "stale");
  try {
    const next = await ask(provider, tokens, session, clock);
    return keep(id, session, next, provider, state, deps);
  } catch (error) {
    const dead = isAuthError(error) && DEAD.has(error.code);
    failed(session, isAuthError(error) ? error.code : "provider_error", dead);
    if (!isAuthError(error)) deps.log.error(`refresh failed: ${messageOf(error)}`);
    if (dead) return endSession(session, deps, "rejected");
    state.failedAt = clock.monotonicMs();
    const now = records.byDigest(session.digest);
    if (!now) return "dead";
    const end = now.accessExpiresAt ?? Infinity;
    return clock.now() / 1000 < end + GRACE_SECONDS ? "live" : "stalled";
  }
}

const DEAD: ReadonlySet<string> = new Set(["refresh_rejected", "not_ours", "identity_rejected"]);

/** Bound to its own limit, not to the request that happened to start it. */
function ask(
  provider: RedirectProvider,
  tokens: Tokens,
  { identity }: Session,
  clock: Clock,
): Promise<Tokens> {
  return callProvider(clock, (signal) => provider.refresh({ tokens, identity, signal }));
}

function keep(
  id: string,
  session: Session,
  tokens: Tokens,
  provider: RedirectProvider,
  state: Attempts,
  { records, clock, audit, log }: RefresherDeps,
): Standing {
  let kept: Session | null;
  try {
    kept = records.replaceTokens(id, tokens);
  } catch (error) {
    log.error(`refreshed tokens cannot be written: ${messageOf(error)}`);
    kept = records.byDigest(session.digest);
  }
  if (!kept) {
    // It ended while the issuer was asked: the new tokens must not live on.
    void callProvider(clock, (signal) => provider.revoke(tokens, signal)).catch(() => undefined);
    return "dead";
  }
  state.refreshedAt = clock.monotonicMs();
  audit.write("refresh_success", { provider: session.provider, user_id: session.identity.userId });
  return "live";
}

function endSession(
  session: Session,
  { records }: RefresherDeps,
  why: "rejected" | "stale",
): Standing {
  records.end(session.digest, why);
  return "dead";
}

const REASONS: Readonly<Record<string, string>> = {
  refresh_rejected: "refresh_expired",
  not_ours: "invalid_token",
  identity_rejected: "not_allowed",
  unreachable: "provider_unreachable",
};

/** Each end of a session, but an outage only once a minute and provider. */
function createFailureLog({ clock, audit }: RefresherDeps): FailureLog {
  const isFirst = createMinuteOnce(clock);
  return (session, code, dead) => {
    if (!dead && !isFirst(session.provider)) return;
    const reason = REASONS[code] ?? "provider_error";
    const { provider, identity } = session;
    audit.write("refresh_failure", { provider, user_id: identity.userId, reason });
  };
}
