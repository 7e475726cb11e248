import { describe, expect, test, vi } from "vitest";
import { readBoot } from "./boot.ts";
import { createClient, LAST_LOCATION_KEY, type Page } from "./client.ts";
import { ApiError } from "./error.ts";

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

function fakePage(answers: readonly (() => Response)[]) {
  const stored = new Map<string, string>();
  const calls: { url: string; init: RequestInit }[] = [];
  let next = 0;
  const page: Page = {
    fetch: async (url, init) => {
      calls.push({ url, init });
      const answer = answers[Math.min(next, answers.length - 1)];
      next += 1;
      if (!answer) throw new TypeError("no answer");
      return answer();
    },
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
    location: () => "/hermes/models?d=30",
    go: vi.fn<(url: string) => void>(),
    reload: vi.fn<() => void>(),
  };
  return { page, calls, stored };
}

const LOCAL = { token: "t".repeat(16), basePath: "/hermes", authRequired: false };
const GATED = { token: null, basePath: "/hermes", authRequired: true };

test("readBoot takes the page's globals and cuts a trailing slash", () => {
  expect(
    readBoot({
      __HERMES_SESSION_TOKEN__: "secret",
      __HERMES_BASE_PATH__: "/a/",
      __HERMES_AUTH_REQUIRED__: true,
    }),
  ).toEqual({ token: "secret", basePath: "/a", authRequired: true });
  expect(readBoot({})).toEqual({ token: null, basePath: "", authRequired: false });
});

describe("requests", () => {
  test("carry prefix, query and token, and never Authorization", async () => {
    const { page, calls } = fakePage([() => json(200, { ok: true })]);
    const client = createClient(LOCAL, page);
    await client.request("GET", "/api/sessions", { query: { limit: 20, source: "", q: "a b" } });
    const headers = new Headers(calls[0]?.init.headers);
    expect(calls[0]?.url).toBe("/hermes/api/sessions?limit=20&q=a+b");
    expect(headers.get("X-Hermes-Session-Token")).toBe(LOCAL.token);
    expect(headers.has("Authorization")).toBe(false);
    expect(calls[0]?.init.credentials).toBe("same-origin");
  });

  test("have no token header in gated mode", async () => {
    const { page, calls } = fakePage([() => json(200, {})]);
    await createClient(GATED, page).request("POST", "/api/x", { json: { a: 1 } });
    const headers = new Headers(calls[0]?.init.headers);
    expect(headers.has("X-Hermes-Session-Token")).toBe(false);
    expect(headers.get("Content-Type")).toBe("application/json");
    expect(calls[0]?.init.body).toBe('{"a":1}');
  });

  test("give the ETag", async () => {
    const { page } = fakePage([() => json(200, { a: 1 }, { ETag: '"v1"' })]);
    expect(await createClient(LOCAL, page).answer("GET", "/api/config")).toEqual({
      data: { a: 1 },
      etag: '"v1"',
    });
  });
});

const failures: readonly (readonly [string, () => Response, Partial<ApiError>])[] = [
  [
    "a sentence with its code",
    () => json(409, { detail: "Busy.", code: "session_busy", holder: "cli" }),
    { status: 409, code: "session_busy", detail: "Busy." },
  ],
  [
    "a list of wrong fields",
    () =>
      json(422, {
        code: "invalid",
        detail: [{ loc: ["body", "text"], msg: "too long", type: "size" }],
      }),
    { status: 422, code: "invalid", detail: "text: too long" },
  ],
  [
    "the request id of a 500",
    () => json(500, { detail: "Internal server error", code: "internal", id: "r-1" }),
    { status: 500, requestId: "r-1" },
  ],
  [
    "an answer that is no JSON",
    () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
    { status: 502, code: "http_502" },
  ],
];

describe("errors", () => {
  test.each(failures)("%s", async (_name, answer, facts) => {
    const { page } = fakePage([answer]);
    const error = await createClient(GATED, page)
      .request("GET", "/api/x")
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject(facts);
  });

  test("no answer at all is status 0", async () => {
    const { page } = fakePage([]);
    await expect(createClient(LOCAL, page).request("GET", "/api/x")).rejects.toMatchObject({
      status: 0,
      code: "network",
    });
  });
});

/** Resolves to "pending" when the promise has not settled after the microtasks that are due. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  return Promise.race([
    promise.then(
      () => "done",
      () => "failed",
    ),
    new Promise((resolve) => {
      setTimeout(() => resolve("pending"), 0);
    }),
  ]);
}

describe("401", () => {
  const signedOut = () =>
    json(401, {
      error: "session_expired",
      detail: "Unauthorized",
      reason: "invalid_or_expired_session",
      login_url: "/hermes/login",
    });

  test("with error and login_url goes to the login once and stays pending", async () => {
    const { page, stored } = fakePage([signedOut]);
    const client = createClient(GATED, page);
    expect(await outcome(client.request("GET", "/api/a"))).toBe("pending");
    expect(await outcome(client.request("GET", "/api/b"))).toBe("pending");
    expect(page.go).toHaveBeenCalledTimes(1);
    expect(page.go).toHaveBeenCalledWith("/hermes/login?next=%2Fmodels%3Fd%3D30");
    expect(stored.get(LAST_LOCATION_KEY)).toBe("/hermes/models?d=30");
  });

  test("without error reloads once; a second one is an error; a 2xx arms it again", async () => {
    const refused = () => json(401, { detail: "Unauthorized" });
    const { page } = fakePage([refused, refused, () => json(200, {}), refused]);
    const client = createClient(LOCAL, page);
    expect(await outcome(client.request("GET", "/api/a"))).toBe("pending");
    expect(page.reload).toHaveBeenCalledTimes(1);
    await expect(client.request("GET", "/api/a")).rejects.toMatchObject({ status: 401 });
    await client.request("GET", "/api/a");
    expect(await outcome(client.request("GET", "/api/a"))).toBe("pending");
    expect(page.reload).toHaveBeenCalledTimes(2);
  });
});
