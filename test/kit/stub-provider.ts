// A login provider without a network, for tests of everything behind it (dashboard.md §5.6). Never in the bundle.
import type { Clock } from "#base/clock.ts";
import { randomToken, systemRandom, type RandomBytes } from "#base/ids.ts";
import { AuthError } from "#auth/providers/auth-error.ts";
import { epochOf } from "#auth/providers/digest.ts";
import {
  parseProviderName,
  type Identity,
  type ProviderName,
  type RedirectProvider,
  type Tokens,
} from "#auth/providers/provider.ts";
import type { Offer } from "#auth/providers/registry.ts";
import { Secret } from "#auth/providers/secret.ts";

export const STUB_CODE = "stub_code";
export const STUB_IDENTITY: Identity = {
  userId: "stub-user-1",
  email: "stub@example.test",
  displayName: "Stub User",
  orgId: "stub-org-1",
};

/** What a test may change at any time. */
export interface StubState {
  reachable: boolean;
  /** null: logins come without tokens. */
  accessSeconds: number | null;
  /** Whether tokens can be refreshed. */
  refreshable: boolean;
  /** Every chain is over at the issuer. */
  ended: boolean;
  /** Awaited by every refresh: a test holds it back. */
  hold: Promise<void> | null;
  /** Counted. */
  refreshes: number;
  readonly revoked: string[];
}

export interface StubProvider extends RedirectProvider {
  readonly state: StubState;
}

export interface StubOptions {
  readonly clock: Clock;
  readonly random?: RandomBytes;
  readonly name?: string;
  /** Sessions made under another one are dead. */
  readonly epochSeed?: string;
}

/** What comes from one login: reuse of any of its refresh tokens ends it. */
interface Chain {
  current: string;
  isOver: boolean;
}

/** A refresh token rotates, and a used one ends the chain, as the portal's do. */
export function createStubProvider(options: StubOptions): StubProvider {
  const { clock, random = systemRandom } = options;
  const name = parseProviderName(options.name ?? "stub") as ProviderName;
  const state: StubState = {
    reachable: true,
    accessSeconds: 300,
    refreshable: true,
    ended: false,
    hold: null,
    refreshes: 0,
    revoked: [],
  };
  /** By refresh token, used ones too. */
  const chains = new Map<string, Chain>();

  const issue = (chain: Chain): Tokens => {
    chain.current = `stub_refresh_${randomToken(random)}`;
    chains.set(chain.current, chain);
    return {
      access: new Secret(`stub_access_${randomToken(random)}`),
      refresh: state.refreshable ? new Secret(chain.current) : null,
      idToken: null,
      accessExpiresAt: Math.floor(clock.now() / 1000) + (state.accessSeconds ?? 0),
    };
  };
  const demandNetwork = (signal: AbortSignal): void => {
    if (state.reachable && !signal.aborted) return;
    throw new AuthError("unreachable", "the stub issuer is down");
  };

  return {
    kind: "redirect",
    name,
    displayName: "Stub IdP (test only)",
    epoch: epochOf(name, options.epochSeed ?? ""),
    state,

    async startLogin({ redirectUri, signal }) {
      demandNetwork(signal);
      const attempt = { state: randomToken(random), verifier: randomToken(random), nonce: null };
      const url = new URL(redirectUri);
      url.search = new URLSearchParams({ code: STUB_CODE, state: attempt.state }).toString();
      return { url, attempt };
    },

    async completeLogin({ callback, attempt, signal }) {
      if (callback.searchParams.get("state") !== attempt.state) {
        throw new AuthError("not_ours", "the state is another one");
      }
      demandNetwork(signal);
      if (callback.searchParams.get("code") !== STUB_CODE) {
        throw new AuthError("invalid_code", "the code is not stub_code");
      }
      const tokens = state.accessSeconds === null ? null : issue({ current: "", isOver: false });
      return { identity: STUB_IDENTITY, tokens };
    },

    async refresh({ tokens, signal }) {
      state.refreshes++;
      await state.hold;
      demandNetwork(signal);
      const presented = tokens.refresh?.reveal() ?? "";
      const chain = chains.get(presented);
      if (chain && chain.current !== presented) chain.isOver = true;
      if (!chain || chain.isOver || state.ended) {
        throw new AuthError("refresh_rejected", "the chain is over");
      }
      return issue(chain);
    },

    async revoke(tokens) {
      if (!state.reachable) return;
      const token = tokens.refresh?.reveal() ?? "";
      const chain = chains.get(token);
      if (chain) chain.isOver = true;
      state.revoked.push(token);
    },
  };
}

export function offerStub(provider: StubProvider): Offer {
  return { status: "ready", name: provider.name, provider, warnings: [] };
}
