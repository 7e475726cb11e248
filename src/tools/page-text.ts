// A web page as Markdown: the article where there is one, else the body. Libraries are loaded at first use.
import type { FetchResponse } from "./web-fetch.ts";

/** HTML beyond this is left out: parsing is synchronous. */
const MAX_HTML_CHARS = 2_000_000;
// The libraries take time by the cube of the depth: a page made for it would stop this process for minutes.
const MAX_DEPTH = 100;
const MAX_ELEMENTS = 30_000;
/** For Readability: elements, each counted with its depth. */
const MAX_ARTICLE_WEIGHT = 80_000;

export interface PageText {
  readonly title: string;
  readonly markdown: string;
  /** The page was longer than what was parsed. */
  readonly cut: boolean;
}

export function isHtml(mediaType: string): boolean {
  return mediaType === "text/html" || mediaType === "application/xhtml+xml";
}

/** HTML, text, JSON and XML; empty counts as text. */
export function isReadable(mediaType: string): boolean {
  return (
    mediaType === "" ||
    mediaType.startsWith("text/") ||
    isHtml(mediaType) ||
    /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson)$/.test(mediaType)
  );
}

export async function pageText(response: FetchResponse): Promise<PageText> {
  const text = decodeBody(response);
  if (!isHtml(response.mediaType)) return { title: "", markdown: clean(text), cut: false };
  const html = text.slice(0, MAX_HTML_CHARS);
  const page = await htmlText(html, response.finalUrl);
  return {
    title: clean(page.title).trim(),
    markdown: clean(page.markdown).trim(),
    cut: html.length < text.length,
  };
}

function decodeBody(response: FetchResponse): string {
  const bytes = response.body ?? Buffer.alloc(0);
  const head = bytes.toString("latin1", 0, 2048);
  const meta = isHtml(response.mediaType)
    ? /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1]
    : undefined;
  for (const label of [response.charset, meta, "utf-8"]) {
    if (!label) continue;
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      // An unknown label: the next guess.
    }
  }
  return bytes.toString("utf8");
}

async function htmlText(html: string, url: string): Promise<{ title: string; markdown: string }> {
  try {
    const size = measure(html);
    const fits = size.depth <= MAX_DEPTH && size.elements <= MAX_ELEMENTS;
    if (fits) return await extract(html, url, size.weight <= MAX_ARTICLE_WEIGHT);
  } catch {
    // The libraries gave up on it: the bare text is better than nothing.
  }
  return { title: titleOf(html), markdown: bareText(html) };
}

function titleOf(html: string): string {
  return /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html)?.[1] ?? "";
}

interface PageSize {
  readonly elements: number;
  readonly depth: number;
  /** Sum of the depths of all elements. */
  readonly weight: number;
}

/** Elements that end by themselves when the next one begins, or hold nothing: they add no depth. */
const FLAT = new Set(
  "area base br col embed hr img input link meta source track wbr p li td th tr dt dd option thead tbody tfoot".split(
    " ",
  ),
);

/** An estimate from the tags alone. */
function measure(html: string): PageSize {
  let elements = 0;
  let depth = 0;
  let deepest = 0;
  let weight = 0;
  for (const [tag, slash, name = ""] of html.matchAll(
    /<(\/?)([a-zA-Z][\w-]{0,40})[^<>]{0,4000}/g,
  )) {
    if (FLAT.has(name.toLowerCase()) || tag.endsWith("/")) {
      if (slash === "") weight += depth + 1;
      if (slash === "") elements++;
    } else if (slash === "/") depth = Math.max(0, depth - 1);
    else {
      elements++;
      weight += ++depth;
      deepest = Math.max(deepest, depth);
    }
  }
  return { elements, depth: deepest, weight };
}

async function extract(
  html: string,
  url: string,
  wantsArticle: boolean,
): Promise<{ title: string; markdown: string }> {
  const { parseHTML } = await import("linkedom/worker");
  const { document } = parseHTML(html);
  for (const element of document.querySelectorAll(
    "script,style,noscript,template,iframe,object,svg",
  ))
    element.remove();
  resolveLinks(document, url);
  const title = document.querySelector("title")?.textContent ?? "";
  const body = document.body?.innerHTML ?? "";
  const article = wantsArticle ? await articleOf(document) : null;
  const content = article?.content ?? (body === "" ? html : body);
  return { title: article?.title || title, markdown: await toMarkdown(content) };
}

async function articleOf(
  document: object,
): Promise<{ title?: string | null | undefined; content?: string | null | undefined } | null> {
  const { Readability } = await import("./readability.ts");
  const options = { maxElemsToParse: MAX_ELEMENTS, charThreshold: 200 };
  return new Readability(document, options).parse();
}

interface LinkedElement {
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}

interface Queryable {
  querySelectorAll(selector: string): Iterable<LinkedElement>;
}

function resolveLinks(document: Queryable, url: string): void {
  for (const [selector, name] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const target = absoluteLink(element.getAttribute(name) ?? "", url);
      if (target !== null) element.setAttribute(name, target);
      else if (name === "src") element.remove();
      else element.removeAttribute(name);
    }
  }
}

function absoluteLink(link: string, base: string): string | null {
  try {
    const url = new URL(link, base);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

async function toMarkdown(html: string): Promise<string> {
  const { default: TurndownService } = await import("turndown");
  const turndown = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
  });
  turndown.remove(["script", "style", "noscript", "iframe", "object"]);
  return turndown.turndown(html).replace(/\n{3,}/g, "\n\n");
}

function bareText(html: string): string {
  return html
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, " ")
    .replace(/<[^>]{0,2000}>/g, " ")
    .replace(/[ \t]+/g, " ")
    .replace(/\s*\n\s*/g, "\n");
}

/** Without characters that a reader would not see: zero-width, bidirectional, tags. */
function clean(text: string): string {
  return text.replace(
    /[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu,
    "",
  );
}
