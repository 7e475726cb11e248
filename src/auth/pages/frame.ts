// The frame of every page that the server renders by itself: no script, the app's colours, one column (dashboard.md §6.1).
import { PAGE_WORDS, pageLanguage, type PageLanguage, type PageWords } from "./words.ts";

export interface PageFacts {
  /** `Accept-Language` as it came. */
  readonly language: string | undefined;
  /** Name of the active theme; light for `daylight`, dark for every other one. */
  readonly theme: string;
}

export interface Frame {
  readonly title: string;
  /** HTML between heading and end. */
  readonly body: string;
}

/** `make` gets the words of the visitor's language. */
export function renderFrame(facts: PageFacts, make: (words: PageWords) => Frame): string {
  const language = pageLanguage(facts.language);
  const { title, body } = make(PAGE_WORDS[language]);
  return frame(language, facts.theme === "daylight" ? "light" : "dark", title, body);
}

/** For text and for attribute values in double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function frame(language: PageLanguage, scheme: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}" data-scheme="${scheme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Hermes</title>
<link rel="icon" href="${ICON}">
<style>${CSS}</style>
</head>
<body>
<main>
<p class="brand" translate="no">Hermes</p>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

/** Inline, as web/public/icon.svg: without one browsers ask for /favicon.ico, which under a prefix is not even ours. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#041c1c"/><path d="M10 8v16M22 8v16M10 16h12" stroke="#ffbd38" stroke-width="3.4" stroke-linecap="round" fill="none"/></svg>',
)}`;

/** Colours of the app's two themes (web/src/styles/app.css). */
const CSS = `
:root{color-scheme:dark;--back:#041c1c;--text:#fbead6;--card:#0a2727;--soft:#b3bfb3;--line:#5c8582;--main:#ffbd38;--on-main:#2a1a00;--bad:#ff9d8c;--ring:#ffd27a}
:root[data-scheme=light]{color-scheme:light;--back:#fbf8f3;--text:#17302f;--card:#fff;--soft:#56665f;--line:#858c80;--main:#0d5c58;--on-main:#fff;--bad:#a32014;--ring:#0d5c58}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--back);color:var(--text);font:1rem/1.55 ui-sans-serif,system-ui,-apple-system,"Segoe UI","Noto Sans","Noto Sans SC","PingFang SC","Microsoft YaHei",sans-serif;overflow-wrap:anywhere}
main{width:100%;max-width:24rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1.5rem}
.brand{margin:0 0 .25rem;color:var(--soft);letter-spacing:.08em;text-transform:uppercase;font-size:.8rem}
h1{margin:0 0 1rem;font-size:1.4rem;line-height:1.3}
h2{margin:0 0 .75rem;font-size:1rem}
.note{border-inline-start:3px solid var(--main);padding:.25rem 0 .25rem .75rem;margin:0 0 1rem}
.note.bad{border-color:var(--bad);color:var(--bad)}
.soft{color:var(--soft);font-size:.9rem}
.provider-btn,button{display:block;width:100%;min-height:2.75rem;padding:.55rem 1rem;border:0;border-radius:.5rem;background:var(--main);color:var(--on-main);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.provider-btn+.provider-btn,.provider-btn+section,section+section{margin-top:.75rem}
section{border-top:1px solid var(--line);padding-top:1rem}
main>section:first-of-type:only-of-type{border-top:0;padding-top:0}
label{display:block;margin-bottom:.75rem}
input{display:block;width:100%;min-height:2.75rem;margin-top:.25rem;padding:.5rem .75rem;border:1px solid var(--line);border-radius:.5rem;background:var(--back);color:var(--text);font:inherit}
:focus-visible{outline:2px solid var(--ring);outline-offset:2px}
code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
a{color:inherit}
`.trim();
