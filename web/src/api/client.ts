// The one fetch wrapper (dashboard.md §12.1): prefix, local token, 30 s limit, sign-in and one reload on a new token.
import type { Boot } from "./boot.ts";
import { isOfProfile } from "./profile.ts";
import { type ApiError, asRecord, errorFromAnswer, errorWithoutAnswer } from "./error.ts";

export const LAST_LOCATION_KEY = "hermes.lastLocation";
const RELOADED_KEY = "hermes.reloadedFor401";
const LIMIT_MS = 30_000;
const UPLOAD_LIMIT_MS = 600_000;

/** What the client needs from the page; a test hands in its own. */
export interface Page {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Path, query and hash of the place where the user is. */
  readonly location: () => string;
  readonly go: (url: string) => void;
  readonly reload: () => void;
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, with `headers["Content-Type"]`. */
  readonly body?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Goes out even while the page is being closed; at most 64 KiB. */
  readonly keepalive?: boolean;
}

export interface Answer<T> {
  readonly data: T;
  readonly etag: string | null;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Client {
  /** `{p}` + path + query: the only way a URL of ours is made. */
  href(path: string, query?: Query): string;
  request<T>(method: Method, path: string, options?: RequestOptions): Promise<T>;
  /** Where to sign in again for what was refused with `reauth_required`, and back to here; null for other refusals. */
  reauthUrl(error: ApiError): string | null;
  /** True while the page leaves by itself (signing out): a 401 is then an error like others, not a way to the login. */
  setLeaving(on: boolean): void;
  /** As `request`, with the ETag. */
  answer<T>(method: Method, path: string, options?: RequestOptions): Promise<Answer<T>>;
}

/** `profile`: goes with every question that a profile answers; null leaves the choice to the server. */
export function createClient(boot: Boot, page: Page, profile: string | null = null): Client {
  let leaving = false;
  let signingOut = false;

  function href(path: string, query: Query = {}): string {
    const named = profile !== null && isOfProfile(path) ? { profile, ...query } : query;
    const pairs = Object.entries(named).flatMap(([name, value]) =>
      value === undefined || value === null || value === "" ? [] : [[name, String(value)]],
    );
    const text = new URLSearchParams(pairs).toString();
    return `${boot.basePath}${path}${text === "" ? "" : `?${text}`}`;
  }

  function headersOf(options: RequestOptions): Record<string, string> {
    const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
    if (options.json !== undefined) headers["Content-Type"] = "application/json";
    if (boot.token !== null) headers["X-Hermes-Session-Token"] = boot.token;
    return headers;
  }

  async function ask(method: Method, path: string, options: RequestOptions): Promise<Response> {
    const limit = AbortSignal.timeout(options.body === undefined ? LIMIT_MS : UPLOAD_LIMIT_MS);
    const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
    const init: RequestInit = {
      method,
      headers: headersOf(options),
      credentials: "same-origin",
      signal,
      keepalive: options.keepalive === true,
    };
    if (options.json !== undefined) init.body = JSON.stringify(options.json);
    else if (options.body !== undefined) init.body = options.body;
    try {
      return await page.fetch(href(path, options.query), init);
    } catch (cause) {
      if (options.signal?.aborted) throw cause;
      throw errorWithoutAnswer(cause);
    }
  }

  /** The login that comes back to where the user is. */
  function loginFrom(loginUrl: string, here: string): string {
    const next =
      boot.basePath !== "" && here.startsWith(boot.basePath)
        ? here.slice(boot.basePath.length)
        : here;
    const url = loginUrl.includes("?") ? `${loginUrl}&` : `${loginUrl}?`;
    return `${url}next=${encodeURIComponent(next)}`;
  }

  /** Leaves the page for the login; the caller's promise stays pending so that nothing flashes. */
  function signIn(loginUrl: string): Promise<never> {
    if (!leaving) {
      leaving = true;
      const here = page.location();
      page.storage.setItem(LAST_LOCATION_KEY, here);
      page.go(loginFrom(loginUrl, here));
    }
    return new Promise<never>(() => {});
  }

  /** A new server process has a new token: one reload fetches it, a second 401 is shown. */
  function reloadOnce(): Promise<never> | null {
    if (boot.authRequired || page.storage.getItem(RELOADED_KEY) !== null) return null;
    page.storage.setItem(RELOADED_KEY, "1");
    page.reload();
    return new Promise<never>(() => {});
  }

  async function answer<T>(
    method: Method,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer<T>> {
    const response = await ask(method, path, options);
    const body = await readBody(response);
    if (response.ok) {
      page.storage.removeItem(RELOADED_KEY);
      return { data: body as T, etag: response.headers.get("ETag") };
    }
    if (response.status === 401 && !signingOut) {
      const { error, login_url: loginUrl } = asRecord(body);
      if (error !== undefined && typeof loginUrl === "string") return signIn(loginUrl);
      const gone = error === undefined ? reloadOnce() : null;
      if (gone !== null) return gone;
    }
    throw errorFromAnswer(response.status, body, response.headers.get("X-Request-Id"));
  }

  return {
    href,
    answer,
    setLeaving: (on) => {
      signingOut = on;
    },
    reauthUrl({ code, body }) {
      const loginUrl = body["login_url"];
      if (code !== "reauth_required" || typeof loginUrl !== "string") return null;
      return loginFrom(loginUrl, page.location());
    },
    request: async <T>(method: Method, path: string, options?: RequestOptions) =>
      (await answer<T>(method, path, options)).data,
  };
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!(response.headers.get("Content-Type") ?? "").includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
