// All providers of one dashboard, in order, and why the others are not there (dashboard.md §5.2).
import { HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import type { Log } from "#base/log.ts";
import {
  parseProviderName,
  type LoginProvider,
  type Principal,
  type Provider,
  type TokenProvider,
} from "./provider.ts";

/** What became of one provider's settings. Reasons are one sentence each, without secrets. */
export type Offer =
  | {
      readonly status: "ready";
      readonly name: string;
      readonly provider: Provider;
      readonly warnings: readonly string[];
    }
  | {
      /** `skipped`: nobody asked for it. `invalid`: somebody did, and it cannot be honoured. */
      readonly status: "skipped" | "invalid";
      readonly name: string;
      readonly reason: string;
    };

/** As `/api/auth/providers/status`, `doctor` and the refusal show it. */
export interface ProviderReport {
  readonly name: string;
  readonly status: "ready" | "skipped" | "invalid";
  /** null: ready. */
  readonly reason: string | null;
  readonly warnings: readonly string[];
}

export interface ProviderRegistry {
  /** Redirect and password ones, in order of registration. */
  loginProviders(): readonly LoginProvider[];
  tokenProviders(): readonly TokenProvider[];
  /** null: no such login provider; a token-only one is none. */
  loginProvider(name: string): LoginProvider | null;
  /** Every offer, ready or not, in order. */
  reports(): readonly ProviderReport[];
  /** Asks the token providers in order; one that throws is skipped with a warning. null: nobody's. */
  verifyToken(token: string, signal: AbortSignal): Promise<Principal | null>;
}

/** Throws `PROVIDER_REFUSED` (exit 78) for a bad or double name, no display name, an unknown kind, a missing method. No network. */
export function createRegistry(offers: readonly Offer[], log: Log): ProviderRegistry {
  const ready = offers.flatMap((offer) => (offer.status === "ready" ? [checked(offer)] : []));
  refuseDoubles(offers.map(({ name }) => name));
  const logins = ready.filter((provider) => provider.kind !== "token");
  const tokens = ready.filter((provider) => provider.kind === "token");
  return {
    loginProviders: () => logins,
    tokenProviders: () => tokens,
    loginProvider: (name) => logins.find((provider) => provider.name === name) ?? null,
    reports: () => offers.map(reportOf),
    verifyToken: (token, signal) => firstPrincipal(tokens, token, signal, log),
  };
}

function reportOf(offer: Offer): ProviderReport {
  return offer.status === "ready"
    ? { name: offer.name, status: "ready", reason: null, warnings: offer.warnings }
    : { name: offer.name, status: offer.status, reason: offer.reason, warnings: [] };
}

const METHODS: Readonly<Record<Provider["kind"], readonly string[]>> = {
  redirect: ["startLogin", "completeLogin", "refresh", "revoke"],
  password: ["verifyPassword"],
  token: ["verifyToken"],
};

/** The types say all this; a plugin's provider was not compiled with them. */
function checked({ name, provider }: Extract<Offer, { status: "ready" }>): Provider {
  const given = provider as unknown as Readonly<Record<string, unknown>>;
  const label = JSON.stringify(name.slice(0, 40));
  if (parseProviderName(name) === null || given["name"] !== name) {
    throw refusal(`The login provider ${label} has no usable name.`);
  }
  if (typeof given["displayName"] !== "string" || given["displayName"].trim() === "") {
    throw refusal(`The login provider ${label} has no display name.`);
  }
  // Not read: it may be computed at first use.
  if (!("epoch" in given)) throw refusal(`The login provider ${label} has no epoch.`);
  const kind = String(given["kind"]);
  if (!Object.hasOwn(METHODS, kind)) {
    throw refusal(`The login provider ${label} is of the unknown kind ${JSON.stringify(kind)}.`);
  }
  const missing = METHODS[kind as Provider["kind"]].filter(
    (method) => typeof given[method] !== "function",
  );
  if (missing.length === 0) return provider;
  throw refusal(`The login provider ${label} lacks ${missing.join(", ")}.`);
}

function refuseDoubles(names: readonly string[]): void {
  const double = names.find((name, at) => names.indexOf(name) !== at);
  if (double !== undefined)
    throw refusal(`Two login providers are named ${JSON.stringify(double)}.`);
}

function refusal(message: string): HermesError {
  return new HermesError("PROVIDER_REFUSED", message, {
    exit: EXIT.refused,
    fix: "Correct or disable the plugin that brings it (plugins.disabled).",
  });
}

async function firstPrincipal(
  providers: readonly TokenProvider[],
  token: string,
  signal: AbortSignal,
  log: Log,
): Promise<Principal | null> {
  for (const provider of providers) {
    try {
      const principal = await provider.verifyToken(token, signal);
      if (principal !== null) return principal;
    } catch (cause) {
      log.warn("a token provider failed and is skipped", {
        provider: provider.name,
        reason: messageOf(cause),
      });
    }
  }
  return null;
}
