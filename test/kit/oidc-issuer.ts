// A real OpenID Connect issuer on loopback (`oidc-provider`), with switches for everything that can go wrong. What makes it
// the portal or a generic issuer stands in oidc-portal.ts and oidc-generic.ts.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider, type AdapterConstructor, type Configuration } from "oidc-provider";
// @ts-expect-error -- it has no types
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";
import { createFaults, type Endpoint, type Faults } from "./oidc-faults.ts";
import { createKeys, merged, type Forgery, type IssuerKeys } from "./oidc-keys.ts";

export interface Account {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** Under a name of its own, because the library warns about its default. */
class InMemory extends (MemoryAdapter as new (name: string) => object) {}

/** What a test may change at any time. */
export interface IssuerState {
  /** Who signs in. */
  account: Account;
  /** What the next token answers are changed by; null: nothing. */
  forgery: Forgery | null;
  /** Clock of the issuer minus ours, in the times of its tokens. */
  skewSeconds: number;
  /** The visitor says no: `access_denied`. */
  denies: boolean;
  /** The visitor has to press a button (`#continue`); otherwise the login passes by itself. */
  asks: boolean;
}

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly state: IssuerState;
  readonly faults: Faults;
  readonly keys: IssuerKeys;
  /** Bodies of the token requests, newest last. */
  readonly tokenRequests: readonly { readonly headers: IncomingMessage["headers"] }[];
  /** What the issuer itself failed at: a test that wonders looks here. */
  readonly errors: readonly Error[];
}

export interface IssuerSetup {
  readonly algorithm: "RS256" | "ES256";
  /** Which token of the answer is ours to sign anew. */
  readonly resigns: "access_token" | "id_token";
  readonly routes: Readonly<Record<string, Endpoint>>;
  readonly account: Account;
  configuration(state: IssuerState): Configuration;
  /** Answers a token request instead of the issuer, or lets it pass (false). */
  readonly screen?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export async function startIssuer(setup: IssuerSetup): Promise<Issuer> {
  const state: IssuerState = {
    account: setup.account,
    forgery: null,
    skewSeconds: 0,
    denies: false,
    asks: false,
  };
  const faults = createFaults();
  const keys = await createKeys(setup.algorithm);
  const tokenRequests: { readonly headers: IncomingMessage["headers"] }[] = [];
  const errors: Error[] = [];

  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const provider = createProvider(url, setup, state, keys);
  provider.on("server_error", (_ctx, error) => errors.push(error));
  const pass = provider.callback();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split("?", 1)[0] ?? "";
    const endpoint = setup.routes[path] ?? "other";
    if (endpoint === "token") tokenRequests.push({ headers: request.headers });
    if (await faults.meet(endpoint, request, response)) return;
    if (endpoint === "token" && setup.screen?.(request, response)) return;
    if (endpoint === "jwks") sendJson(response, keys.published());
    else if (path.startsWith("/interaction/")) await interact(provider, state, request, response);
    else await pass(request, response);
  };
  server.on("request", (request, response) => {
    answer(request, response).catch((error: Error) => {
      errors.push(error);
      response.destroy();
    });
  });

  return {
    url,
    port,
    state,
    faults,
    keys,
    tokenRequests,
    errors,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function createProvider(
  url: string,
  setup: IssuerSetup,
  state: IssuerState,
  keys: IssuerKeys,
): Provider {
  const provider = new Provider(url, {
    adapter: InMemory as unknown as AdapterConstructor,
    jwks: { keys: [keys.first] },
    cookies: { keys: ["a test issuer's cookie key"] },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => Promise.resolve({ ...state.account, sub }),
    }),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    ...setup.configuration(state),
  });
  allowAnyCallback(provider);
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as Record<string, unknown> | undefined;
    const token = ctx.oidc?.route === "token" ? body?.[setup.resigns] : undefined;
    if (typeof token !== "string") return;
    const forgery = state.forgery ?? {};
    const signed = await keys.sign(token, forgery, state.skewSeconds);
    ctx.body = merged({ ...body, [setup.resigns]: signed }, forgery.answer);
  });
  return provider;
}

/** The dashboard's port is known only after the issuer's. */
function allowAnyCallback(provider: Provider): void {
  const client = provider.Client.prototype as unknown as Record<string, (uri: string) => boolean>;
  client["redirectUriAllowed"] = (uri) => new URL(uri).pathname.endsWith("/auth/callback");
  client["postLogoutRedirectUriAllowed"] = () => true;
}

/** The scripted visitor: signs in as `state.account` and consents to everything. */
async function interact(
  provider: Provider,
  state: IssuerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (state.asks && request.method === "GET") {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(
      '<!doctype html><title>Issuer</title><form method="post"><button id="continue">Continue</button></form>',
    );
    return;
  }
  const details = await provider.interactionDetails(request, response);
  const result = state.denies
    ? { error: "access_denied", error_description: "The visitor said no <b>" }
    : details.prompt.name === "login"
      ? { login: { accountId: state.account.sub } }
      : { consent: { grantId: await grantAll(provider, details) } };
  await provider.interactionFinished(request, response, result, {
    mergeWithLastSubmission: true,
  });
}

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;

async function grantAll(provider: Provider, details: Details): Promise<string> {
  const { grantId, params, prompt, session } = details;
  const grant =
    (grantId ? await provider.Grant.find(grantId) : undefined) ??
    new provider.Grant({
      accountId: session?.accountId ?? "",
      clientId: String(params["client_id"]),
    });
  const missing = prompt.details as {
    missingOIDCScope?: string[];
    missingOIDCClaims?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(" "));
  if (missing.missingOIDCClaims) grant.addOIDCClaims(missing.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(missing.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  return grant.save();
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
