// Asks every address that a page names, and that those name in turn: href, src and action of HTML, url() of CSS, the chunks
// that scripts load later. Runs inside the browser's page, so with its cookies, scheme and names.
import type { Page } from "playwright-core";

export interface Crawl {
  /** `200 /hermes/assets/app.js`, in the order of asking; a redirect shows where it ended. */
  readonly asked: readonly string[];
  /** Answers of 400 and above, and addresses beyond the origin and the prefix. */
  readonly bad: readonly string[];
}

const MOST = 500;

/** `prefix`: "" or `/hermes`, in front of every path. `starts`: paths with the prefix. */
export function crawl(page: Page, prefix: string, starts: readonly string[]): Promise<Crawl> {
  return page.evaluate<Crawl>(`(${CRAWL})(${JSON.stringify({ prefix, starts, most: MOST })})`);
}

const CRAWL = String.raw`async ({ prefix, starts, most }) => {
  const named = {
    html(text) {
      const page = new DOMParser().parseFromString(text, "text/html");
      const inline = [...page.querySelectorAll("style")].flatMap(({ textContent }) => named.css(textContent));
      return [...page.querySelectorAll("[href], [src], form[action]:not([method=post])")].map(
        (node) => node.getAttribute("href") ?? node.getAttribute("src") ?? node.getAttribute("action"),
      ).concat(inline);
    },
    css: (text) => [...text.matchAll(/url\(\s*["']?([^"')]+)["']?\s*\)/g)].map((match) => match[1]),
    js: (text) => [...text.matchAll(/["'${"`"}](\.\/[\w.-]+\.(?:js|css))["'${"`"}]/g)].map((match) => match[1]),
  };
  const kindOf = (type) => ["html", "css"].find((kind) => type.includes(kind)) ?? (/javascript/.test(type) ? "js" : null);
  const queue = starts.map((start) => new URL(start, location.origin).href);
  const seen = new Set(queue);
  const [asked, bad] = [[], []];
  for (const url of queue) {
    if (asked.length >= most) { bad.push("more than " + most + " addresses"); break; }
    const answer = await fetch(url);
    const end = new URL(answer.url);
    asked.push(answer.status + " " + end.pathname + end.search);
    if (answer.status >= 400) bad.push(answer.status + " " + url);
    for (const at of [new URL(url), end]) {
      if (at.origin !== location.origin || !at.pathname.startsWith(prefix + "/")) bad.push("outside: " + at.href);
    }
    const kind = kindOf(answer.headers.get("content-type") ?? "");
    const text = await answer.text();
    for (const name of kind === null ? [] : named[kind](text)) {
      if (/^(#|data:|blob:|javascript:)/.test(name)) continue;
      const next = new URL(name, answer.url);
      next.hash = "";
      if (!seen.has(next.href)) { seen.add(next.href); queue.push(next.href); }
    }
  }
  return { asked, bad };
}`;
