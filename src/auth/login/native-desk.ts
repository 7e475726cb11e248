// Native apps (dashboard.md §8.2; RFC 8252, RFC 7636): a browser signs in, the app fetches tokens of our own. A provider's
// tokens never leave the server.
import { createHash, timingSafeEqual } from "node:crypto";
import { randomToken } from "#base/ids.ts";
import type { GateRequest } from "../access.ts";
import { isLoopbackAddress, limiterKey } from "../addresses.ts";
import { type GateAnswer, jsonAnswer, pageAnswer, redirectAnswer } from "../answer.ts";
import type { NativeRequest } from "../attempt-cookie.ts";
import { chooserPage, type Choice } from "../pages/login-page.ts";
import { href } from "../prefix.ts";
import type { Login, LoginProvider } from "../providers/provider.ts";
import { idOf, mintNativeTokens } from "../native-tokens.ts";
import { digestOfId } from "../sessions/records.ts";
import type { Session } from "../sessions/session.ts";
import type { LoginDeps } from "./deps.ts";
import { openSession } from "./open-session.ts";
import { type NativeFinish, startRedirectLogin } from "./redirect-login.ts";

const CODE_TTL_MS = 120_000;
const MOST_CODES = 256;
const MOST_PER_CLIENT = 8;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

interface Pending {
  readonly provider: LoginProvider;
  readonly login: Login;
  readonly request: GateRequest;
  readonly challenge: string;
  readonly client: string;
  readonly expiresAt: number;
}

export interface NativeDesk extends NativeFinish {
  /** GET /auth/native/authorize */
  authorize(query: URLSearchParams, request: GateRequest): Promise<GateAnswer>;
  /** POST /auth/native/token */
  exchange(code: string, verifier: string, request: GateRequest): GateAnswer;
  /** POST /auth/native/refresh */
  refresh(refreshToken: string, request: GateRequest): GateAnswer;
}

export function createNativeDesk(deps: LoginDeps): NativeDesk {
  const codes = new Map<string, Pending>();
  const sweep = (): void => {
    for (const [code, { expiresAt }] of codes) if (deps.clock.now() > expiresAt) codes.delete(code);
  };
  return {
    authorize: (query, request) => authorize(query, request, deps),
    finish(native, provider, login, request) {
      sweep();
      const client = limiterKey(request.client);
      const mine = [...codes.values()].filter((pending) => pending.client === client).length;
      if (codes.size >= MOST_CODES || mine >= MOST_PER_CLIENT) return null;
      const code = randomToken(deps.random);
      const expiresAt = deps.clock.now() + CODE_TTL_MS;
      const { challenge } = native;
      codes.set(code, { provider, login, request, challenge, client, expiresAt });
      deps.audit.write("native_code_issued", { provider: provider.name, ip: request.client });
      const target = new URL(native.redirectUri);
      target.searchParams.set("code", code);
      if (native.state !== "") target.searchParams.set("state", native.state);
      return target.href;
    },
    exchange(code, verifier, request) {
      sweep();
      const pending = codes.get(code);
      // Before the check: a code that somebody tried is worth nothing any more.
      codes.delete(code);
      if (!pending || !fits(verifier, pending.challenge)) {
        deps.audit.write("native_token_failure", { reason: "invalid_code", ip: request.client });
        return jsonAnswer(400, { detail: "Invalid code", code: "invalid" });
      }
      const { id, session } = openSession("native", pending, deps);
      return give(id, session, request, deps);
    },
    refresh: (refreshToken, request) => refresh(refreshToken, request, deps),
  };
}

async function authorize(
  query: URLSearchParams,
  request: GateRequest,
  deps: LoginDeps,
): Promise<GateAnswer> {
  const native = parseNativeRequest(query);
  if (typeof native === "string") return jsonAnswer(400, { detail: native, code: "invalid" });
  const providers = deps.providers.loginProviders();
  const [only, ...others] = providers;
  const named = query.get("provider") ?? (others.length === 0 ? only?.name : undefined);
  if (named !== undefined) {
    return startRedirectLogin({ provider: named, next: null, fresh: false, native }, request, deps);
  }
  // Several: the page with one link each, which comes back here with a name.
  const links = providers.map(({ name, displayName }) => ({
    label: displayName,
    url: href(request.prefix, `/auth/native/authorize?${withProvider(query, name)}`),
  }));
  return chooser(links, request, deps);
}

function withProvider(query: URLSearchParams, name: string): string {
  const next = new URLSearchParams(query);
  next.set("provider", name);
  return next.toString();
}

/** The request, or what is wrong with it. */
function parseNativeRequest(query: URLSearchParams): NativeRequest | string {
  const redirectUri = query.get("redirect_uri") ?? "";
  const challenge = query.get("code_challenge") ?? "";
  const state = query.get("state") ?? "";
  if (!isLoopbackRedirect(redirectUri)) {
    return "redirect_uri must be http://127.0.0.1:<port>/… or http://[::1]:<port>/…";
  }
  if (query.get("code_challenge_method") !== "S256") return "code_challenge_method must be S256";
  if (!CHALLENGE.test(challenge)) return "code_challenge is malformed";
  if (state.length > 256) return "state is too long";
  return { redirectUri, challenge, state };
}

/** RFC 8252 §7.3, §8.3: a literal address, since a name could be resolved to somewhere else. */
function isLoopbackRedirect(text: string): boolean {
  const url = text.length <= 256 ? URL.parse(text) : null;
  if (url?.protocol !== "http:" || url.port === "" || url.username !== "" || url.hash !== "") {
    return false;
  }
  return isLoopbackAddress(url.hostname) && !text.toLowerCase().includes("localhost");
}

function fits(verifier: string, challenge: string): boolean {
  const made = createHash("sha256").update(verifier, "utf8").digest();
  const wanted = Buffer.from(challenge, "base64url");
  return wanted.length === made.length && timingSafeEqual(made, wanted);
}

function refresh(refreshToken: string, request: GateRequest, deps: LoginDeps): GateAnswer {
  const id = idOf(refreshToken, "hrt");
  const session = id === null ? null : deps.records.find(id);
  if (id === null || !session?.native || !isOfProvider(session, deps)) return over(request, deps);
  if (session.native.refreshDigest !== digestOfId(refreshToken)) {
    // A used one: whoever holds it stole it, or the app lost the answer; nobody can tell.
    deps.records.end(session.digest, "revoked");
    return over(request, deps);
  }
  return give(id, session, request, deps);
}

function isOfProvider(session: Session, { providers }: LoginDeps): boolean {
  return providers.loginProvider(session.provider)?.epoch === session.epoch;
}

function over({ client }: GateRequest, { audit }: LoginDeps): GateAnswer {
  audit.write("native_token_failure", { reason: "session_expired", ip: client });
  return jsonAnswer(401, { error: "session_expired", detail: "Unauthorized" });
}

/** New tokens, written down before they are handed out. */
function give(id: string, session: Session, request: GateRequest, deps: LoginDeps): GateAnswer {
  const { access, refresh: next, digests } = mintNativeTokens(id, deps.clock, deps.random);
  if (!deps.records.replaceNative(id, digests)) return over(request, deps);
  const { provider, identity } = session;
  deps.audit.write("native_token_success", {
    provider,
    user_id: identity.userId,
    ip: request.client,
  });
  return jsonAnswer(200, {
    access_token: access,
    refresh_token: next,
    token_type: "Bearer",
    expires_at: digests.accessEnd,
    provider,
    user_id: identity.userId,
  });
}

function chooser(links: readonly Choice[], request: GateRequest, deps: LoginDeps): GateAnswer {
  if (links.length === 0) return redirectAnswer(href(request.prefix, "/login"));
  const html = chooserPage({
    language: request.headers["accept-language"],
    theme: deps.theme(),
    links,
  });
  return pageAnswer(200, html, deps.settings.csp);
}
