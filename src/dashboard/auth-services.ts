// The gate of this start, with what belongs to it: the local token in local mode, sessions and sign-in in gated mode.
import { join } from "node:path";
import type { Caller, Gate } from "#auth/access.ts";
import { type Audit, createAudit } from "#auth/audit.ts";
import { watchControl } from "#auth/control-file.ts";
import { createLimiter, type Limiter } from "#auth/limiter.ts";
import { createLocalGate } from "#auth/local-gate.ts";
import { createLocalToken } from "#auth/local-token.ts";
import type { LoginDeps } from "#auth/login/deps.ts";
import { createLoginLimits } from "#auth/login-limits.ts";
import { createNativeTokenReader } from "#auth/native-tokens.ts";
import { createRefresher, type Refresher } from "#auth/refresher.ts";
import { shouldRequireAuth } from "#auth/require-auth.ts";
import { createSessionGate } from "#auth/session-gate.ts";
import { openSessionRecords, type SessionRecords } from "#auth/sessions/records.ts";
import { openSessionFolder, sessionsFolder } from "#auth/sessions/session-folder.ts";
import { openSessionKey } from "#auth/sessions/session-key.ts";
import { sessionName } from "#auth/sessions/session.ts";
import { createWsTickets, type WsTickets } from "#auth/ws-tickets.ts";
import type { DashboardDeps } from "./deps.ts";

export interface AuthServices {
  readonly gate: Gate;
  readonly tickets: WsTickets;
  readonly audit: Audit;
  /** Wrong tokens and tickets, per client (dashboard.md §10). */
  readonly failures: Limiter;
  /** The local token, for the page; null in gated mode. */
  readonly pageToken: string | null;
  /** null: local mode, where nobody signs in. */
  readonly gated: GatedServices | null;
  /** Who a ticket was made for, as that caller stands now. */
  ticketCaller(owner: string): Caller | Promise<Caller>;
  /** False once the caller's session ended; its record is read from disk. */
  isLive(caller: Caller): boolean;
  /** `run` gets the owner of sockets and streams whose session ended. */
  onSessionEnd(run: (owner: string) => void): void;
  /** Waits for refreshes under way: a token that comes back unread would be lost. */
  close(): Promise<void>;
}

export interface GatedServices {
  readonly records: SessionRecords;
  readonly login: LoginDeps;
}

/** Owner of the tickets of local mode. */
export const LOCAL_OWNER = "local";

/** Throws SESSION_KEY_UNUSABLE (78), or the system's error for a folder that cannot be used. */
export function openAuthServices(deps: DashboardDeps, theme: () => string): AuthServices {
  const { clock, random, log, home } = deps;
  const audit = createAudit({
    path: join(home, "logs", "dashboard-auth.log"),
    ...deps.auditLog,
    clock,
    log,
  });
  const shared = {
    tickets: createWsTickets(clock, random),
    failures: createLimiter({ most: 30, windowMs: 60_000 }, clock),
    audit,
  };
  if (!shouldRequireAuth(deps.settings)) return openLocal(deps, shared);
  return openGated(deps, shared, theme);
}

type Shared = Pick<AuthServices, "tickets" | "failures" | "audit">;

function openLocal({ settings, random }: DashboardDeps, shared: Shared): AuthServices {
  const token = createLocalToken(settings.sessionToken, random);
  return {
    ...shared,
    gate: createLocalGate(token),
    pageToken: token.value,
    gated: null,
    ticketCaller: () => ({ kind: "local" }),
    isLive: () => true,
    onSessionEnd: () => undefined,
    close: async () => undefined,
  };
}

function openGated(deps: DashboardDeps, shared: Shared, theme: () => string): AuthServices {
  const { clock, random, log, home, settings, providers } = deps;
  const { audit } = shared;
  const records = openSessionRecords({
    folder: openSessionFolder(sessionsFolder(home)),
    key: openSessionKey(home, settings.sessionSecret, random),
    clock,
    random,
    log,
  });
  auditEnds(records, audit);
  const refresher = createRefresher({ records, providers, clock, audit, log });
  const limits = createLoginLimits(clock);
  const stopControl = watchControl(home, { clock, log }, ({ unlock }) => limits.unlock(unlock));
  const native = createNativeTokenReader(records, clock);
  return {
    ...shared,
    gate: createSessionGate({
      records,
      refresher,
      providers,
      native,
      clock,
      audit,
      settings,
      theme,
    }),
    pageToken: null,
    gated: {
      records,
      login: { providers, records, limits, settings, clock, random, audit, log, theme },
    },
    ticketCaller: (owner) => ticketCaller(owner, records, refresher),
    isLive: (caller) =>
      caller.kind !== "session" || records.recheckDigest(caller.session.digest) !== null,
    onSessionEnd: (run) => void records.onEnd(({ digest }) => run(digest)),
    async close() {
      stopControl();
      await refresher.settled();
      records.close();
    },
  };
}

const STRANGER: Caller = { kind: "stranger", presented: "token" };

function ticketCaller(
  owner: string,
  records: SessionRecords,
  refresher: Refresher,
): Caller | Promise<Caller> {
  const session = records.byDigest(owner);
  if (!session) return STRANGER;
  const decide = (standing: "live" | "dead" | "stalled"): Caller => {
    if (standing === "stalled") return { kind: "stalled", provider: session.provider };
    return standing === "live" ? { kind: "session", session, id: null } : STRANGER;
  };
  const standing = refresher.ensure(null, session);
  return typeof standing === "string" ? decide(standing) : standing.then(decide);
}

/** Who ended a session by hand, from wherever, leaves a line. */
function auditEnds(records: SessionRecords, audit: Audit): void {
  records.onEnd((session, why) => {
    if (why === "logout" || why === "expired") return;
    const { provider, identity } = session;
    const name = sessionName(session);
    audit.write("session_revoked", { session: name, provider, user_id: identity.userId, why });
  });
}
