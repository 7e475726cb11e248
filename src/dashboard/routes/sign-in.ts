// The way in and out (dashboard.md §6). In local mode there is nothing to sign in to.
import * as z from "zod/mini";
import type { GateAnswer } from "#auth/answer.ts";
import { pageAnswer, redirectAnswer } from "#auth/answer.ts";
import type { LoginDeps } from "#auth/login/deps.ts";
import { logout } from "#auth/login/logout.ts";
import { createNativeDesk, type NativeDesk } from "#auth/login/native-desk.ts";
import { nativeAttempt } from "#auth/login/native-password.ts";
import { passwordLogin, type PasswordInput } from "#auth/login/password-login.ts";
import { finishRedirectLogin, nextParam, startRedirectLogin } from "#auth/login/redirect-login.ts";
import { landing, parseNext } from "#auth/next.ts";
import { loginErrorOf, loginPage } from "#auth/pages/login-page.ts";
import { href } from "#auth/prefix.ts";
import { toResponse } from "../answer-response.ts";
import { mediaType } from "../body.ts";
import { fail, invalidFields } from "../errors.ts";
import { flagParam } from "../query.ts";
import type { Registrars, RouteContext } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

const FORM = "application/x-www-form-urlencoded";
const FORM_LIMIT_BYTES = 16 * 1024;
const OFF = "Sign-in is off: this dashboard runs in local mode";

type Asked = RouteContext<null>;

export function registerSignIn(routes: Registrars, services: RouteServices): void {
  const { deps, auth, snapshot } = services;
  const login = auth.gated?.login ?? null;
  const native = login && createNativeDesk(login);
  /** A step that exists in gated mode only. */
  const step =
    (run: (context: Asked, login: LoginDeps) => GateAnswer | Promise<GateAnswer>) =>
    async (context: Asked): Promise<Response> => {
      if (login) return toResponse(await run(context, login));
      if (context.facts.method === "POST") throw fail(404, "unsupported", OFF);
      return toResponse(redirectAnswer(href(context.facts.prefix, "/")));
    };

  routes.bootstrap("GET /login", {
    handler: (context) =>
      toResponse(loginAnswer(context, deps.providers, services, () => snapshot.theme())),
  });
  routes.bootstrap("GET /auth/login", {
    handler: step(({ query, facts }, gated) => {
      const input = {
        provider: query.get("provider") ?? "",
        next: nextParam(query, facts.prefix),
        fresh: flagParam(query, "fresh"),
        native: null,
      };
      return startRedirectLogin(input, facts, gated);
    }),
  });
  routes.bootstrap("GET /auth/callback", {
    handler: step(({ facts, caller }, gated) => finishRedirectLogin(facts, caller, gated, native)),
  });
  routes.bootstrap("POST /auth/password-login", {
    upload: { types: ["application/json", FORM], maxBytes: FORM_LIMIT_BYTES },
    handler: step((context, gated) => {
      const { facts, caller } = context;
      return passwordLogin(passwordInput(context), facts, caller, gated, native);
    }),
  });
  registerNative(routes, native);
  routes.bootstrap("POST /auth/logout", {
    upload: { types: ["*"], maxBytes: FORM_LIMIT_BYTES },
    handler: step(({ facts }, gated) => logout(facts, gated)),
  });
}

const text = z.string().check(z.maxLength(256));

/** Apps sign in beside the browser (§8.2); without the gate there is nothing to sign in to. */
function registerNative(routes: Registrars, native: NativeDesk | null): void {
  const desk = (): NativeDesk => {
    if (native) return native;
    throw fail(404, "unsupported", OFF);
  };
  routes.bootstrap("GET /auth/native/authorize", {
    handler: async ({ query, facts }) => toResponse(await desk().authorize(query, facts)),
  });
  routes.bootstrap("POST /auth/native/token", {
    body: z.object({ code: text, code_verifier: text }),
    handler: ({ body: { code, code_verifier: verifier }, facts }) =>
      toResponse(desk().exchange(code, verifier, facts)),
  });
  routes.bootstrap("POST /auth/native/refresh", {
    body: z.object({ refresh_token: text }),
    handler: ({ body: { refresh_token: token }, facts }) =>
      toResponse(desk().refresh(token, facts)),
  });
}

function loginAnswer(
  { facts, caller, query }: Asked,
  providers: LoginDeps["providers"],
  { deps, auth }: RouteServices,
  theme: () => string,
): GateAnswer {
  const next = nextParam(query, facts.prefix);
  const fresh = flagParam(query, "fresh");
  const app = appLogin(query.get("native"), facts, auth.gated?.login ?? null);
  if (app === null && caller.kind === "session" && !fresh) {
    return redirectAnswer(landing(facts.prefix, next));
  }
  const all = providers.loginProviders();
  const html = loginPage({
    language: facts.headers["accept-language"],
    theme: theme(),
    prefix: facts.prefix,
    providers: app === null ? all : all.filter(({ name }) => name === app.provider),
    native: app?.state ?? null,
    next,
    fresh,
    error: loginErrorOf(query.get("error")),
    loggedOut: query.get("logged_out") === "1",
    local: auth.gated === null,
  });
  return pageAnswer(200, html, deps.settings.csp);
}

/** Of a native app that this browser signs in for with a password; null: the login is for the browser. */
function appLogin(state: string | null, facts: Asked["facts"], login: LoginDeps | null) {
  return state === null || login === null ? null : nativeAttempt(state, facts, login);
}

const body = z.object({
  provider: z.string().check(z.maxLength(64)),
  username: z.string().check(z.maxLength(1024)),
  password: z.string().check(z.maxLength(4096)),
  next: z.optional(z.nullable(z.string())),
  native: z.optional(z.string().check(z.maxLength(128))),
});

/** Throws 422, and 403 for a form without an `Origin`: a page of ours always sends it. */
function passwordInput({ facts, bytes }: Asked): PasswordInput {
  const isForm = mediaType(facts.headers["content-type"]) === FORM;
  if (isForm && facts.headers.origin === undefined) {
    throw fail(403, "origin_not_allowed", "Requests from this origin are not allowed");
  }
  const text = bytes.toString("utf8");
  const parsed = body.safeParse(
    isForm ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text),
  );
  if (!parsed.success) {
    throw invalidFields(
      parsed.error.issues.map(({ path, message, code }) => ({
        loc: ["body", ...path.map(String)],
        msg: message,
        type: code,
      })),
    );
  }
  const { next, native = null, ...input } = parsed.data;
  return { ...input, native, next: parseNext(next, facts.prefix), isForm };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
