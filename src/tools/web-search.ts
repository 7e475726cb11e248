// web_search: SearXNG, Brave or Tavily; offered only when one is configured (agent.md §5.1).
import * as z from "zod/mini";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool, type ToolContext } from "#agent/ports/tool.ts";
import { createAddressGuard } from "./address-guard.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { guardedFetch } from "./web-fetch.ts";

const INPUT = z.object({
  query: z.string().check(z.minLength(1), z.maxLength(400)),
  limit: z.optional(
    z.int().check(z.minimum(1), z.maximum(10), z.describe("How many results (5).")),
  ),
});

interface Hit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

interface SearchCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** True for an address that the user configured: private ones are open then. */
  readonly configured: boolean;
  read(answer: unknown): readonly Hit[];
}

type Backend = (query: string, limit: number) => SearchCall;

export interface SearchEndpoints {
  readonly brave: string;
  readonly tavily: string;
}

const ENDPOINTS: SearchEndpoints = {
  brave: "https://api.search.brave.com/res/v1/web/search",
  tavily: "https://api.tavily.com/search",
};

/** Endpoints of one's own count as configured by the user. */
export function createWebSearch(deps: ToolBoxDeps, endpoints: SearchEndpoints = ENDPOINTS): Tool {
  const backend = (): Backend | null => chooseBackend(deps, endpoints);
  return defineTool({
    name: "web_search",
    toolset: "web",
    description: "Search the web. Use web_extract to read a result.",
    input: INPUT,
    untrusted: true,
    unavailable: () =>
      backend()
        ? null
        : "no search service is configured (web.searxng_url, BRAVE_API_KEY or TAVILY_API_KEY)",
    async run(input, context): Promise<ToolOutput> {
      const chosen = backend();
      if (!chosen)
        throw new ToolError(
          "NOT_CONFIGURED",
          "no search service is configured; set web.searxng_url",
        );
      const limit = input.limit ?? 5;
      const hits = await search(deps, chosen(input.query, limit), context);
      return { results: hits.slice(0, limit) };
    },
  });
}

function chooseBackend(deps: ToolBoxDeps, endpoints: SearchEndpoints): Backend | null {
  const { backend, searxng_url } = deps.settings.web;
  const braveKey = deps.env("BRAVE_API_KEY");
  const tavilyKey = deps.env("TAVILY_API_KEY");
  const auto = backend === "auto";
  const own = endpoints !== ENDPOINTS;
  if ((auto || backend === "searxng") && searxng_url !== "") return searxng(searxng_url);
  if ((auto || backend === "brave") && braveKey) return brave(endpoints.brave, braveKey, own);
  if ((auto || backend === "tavily") && tavilyKey) return tavily(endpoints.tavily, tavilyKey, own);
  return null;
}

function searxng(base: string): Backend {
  return (query) => {
    const url = new URL(`${base.replace(/\/+$/, "")}/search`);
    url.searchParams.set("q", query);
    url.searchParams.set("format", "json");
    return {
      url: url.href,
      configured: true,
      read: (answer) => hitsOf(answer, ["results"], "content"),
    };
  };
}

function brave(endpoint: string, key: string, configured: boolean): Backend {
  return (query, limit) => {
    const url = new URL(endpoint);
    url.searchParams.set("q", query);
    url.searchParams.set("count", String(limit));
    return {
      url: url.href,
      headers: { "x-subscription-token": key },
      configured,
      read: (answer) => hitsOf(answer, ["web", "results"], "description"),
    };
  };
}

function tavily(endpoint: string, key: string, configured: boolean): Backend {
  return (query, limit) => ({
    url: endpoint,
    headers: { authorization: `Bearer ${key}` },
    json: { query, max_results: limit },
    configured,
    read: (answer) => hitsOf(answer, ["results"], "content"),
  });
}

async function search(
  deps: ToolBoxDeps,
  call: SearchCall,
  context: ToolContext,
): Promise<readonly Hit[]> {
  const guard = createAddressGuard({
    allowPrivate: call.configured || deps.settings.security.allow_private_urls,
    ...(deps.lookup ? { lookup: deps.lookup } : {}),
  });
  const response = await guardedFetch(guard, {
    url: call.url,
    accept: "application/json",
    ...(call.headers ? { headers: call.headers } : {}),
    ...(call.json === undefined ? {} : { json: call.json }),
    signal: context.signal,
    clock: context.clock,
    wantsBody: () => true,
  });
  if (response.status !== 200)
    throw new ToolError("SEARCH_FAILED", statusSentence(response.status));
  return call.read(parseJson(response.body));
}

function statusSentence(status: number): string {
  if (status === 401 || status === 403)
    return `the search service refused the key or the format json (${status})`;
  if (status === 429) return "the search service asks to wait (429)";
  return `the search service answered ${status}`;
}

function parseJson(body: Buffer | null): unknown {
  try {
    return JSON.parse(body?.toString("utf8") ?? "");
  } catch {
    throw new ToolError("SEARCH_FAILED", "the search service did not answer with JSON");
  }
}

function hitsOf(answer: unknown, path: readonly string[], snippetKey: string): readonly Hit[] {
  let value = answer;
  for (const key of path) value = isRecord(value) ? value[key] : undefined;
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((entry: Readonly<Record<string, unknown>>) => {
    const url = textOf(entry["url"]);
    if (url === "") return [];
    return [
      {
        title: plain(textOf(entry["title"]), 300),
        url,
        snippet: plain(textOf(entry[snippetKey]), 600),
      },
    ];
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function plain(text: string, limit: number): string {
  return cutStart(
    text
      .replace(/<[^>]{0,200}>/g, "")
      .replace(/\s+/g, " ")
      .trim(),
    limit,
  );
}
