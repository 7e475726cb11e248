// web_extract: pages as Markdown (agent.md §5.1, §5.4).
import * as z from "zod/mini";
import { messageOf } from "#base/errors.ts";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool, type ToolContext } from "#agent/ports/tool.ts";
import { createAddressGuard, type AddressGuard } from "./address-guard.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { isReadable, pageText } from "./page-text.ts";
import { guardedFetch, type FetchResponse } from "./web-fetch.ts";

const INPUT = z.object({
  urls: z
    .array(z.string().check(z.minLength(1), z.maxLength(4096)))
    .check(z.minLength(1), z.maxLength(5), z.describe("http or https, up to five.")),
});

export function createWebExtract(deps: ToolBoxDeps): Tool {
  return defineTool({
    name: "web_extract",
    toolset: "web",
    description: "Fetch web pages and get their text as Markdown. HTML, text and JSON only.",
    input: INPUT,
    untrusted: true,
    async run(input, context): Promise<ToolOutput> {
      const guard = createAddressGuard({
        allowPrivate: deps.settings.security.allow_private_urls,
        ...(deps.lookup ? { lookup: deps.lookup } : {}),
      });
      const results = await Promise.all(
        input.urls.map((url) => extractOne(deps, guard, url, context)),
      );
      const [first] = results;
      if (first?.error && results.every((result) => result.error)) {
        throw new ToolError(first.error.code, first.error.message, {
          results: results.map((result) => result.value),
        });
      }
      return { results: results.map((result) => result.value) };
    },
  });
}

interface One {
  readonly value: ToolOutput;
  readonly error: ToolError | null;
}

async function extractOne(
  deps: ToolBoxDeps,
  guard: AddressGuard,
  url: string,
  context: ToolContext,
): Promise<One> {
  try {
    const response = await guardedFetch(guard, {
      url,
      accept: "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1",
      signal: context.signal,
      clock: context.clock,
      wantsBody: isReadable,
    });
    return { value: await describe(deps, url, response), error: null };
  } catch (error) {
    const known =
      error instanceof ToolError ? error : new ToolError("FETCH_FAILED", messageOf(error));
    return { value: { url, error: known.message, code: known.code }, error: known };
  }
}

async function describe(
  deps: ToolBoxDeps,
  url: string,
  response: FetchResponse,
): Promise<ToolOutput> {
  if (response.body === null) {
    throw new ToolError(
      "UNSUPPORTED_TYPE",
      `${response.mediaType} is not read, only HTML, text and JSON`,
    );
  }
  const page = await pageText(response);
  const limit = Math.max(1000, deps.settings.web.max_page_chars);
  const truncated = page.cut || page.markdown.length > limit;
  return {
    url,
    final_url: response.finalUrl,
    status: response.status,
    title: cutStart(page.title, 300),
    markdown: cutStart(page.markdown, limit),
    ...(truncated ? { truncated: true } : {}),
  };
}
