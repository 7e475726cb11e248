// index.html with its nonce'd bootstrap script and the prefix in front of its files (dashboard.md §8.1, §12.1).
import { href } from "#auth/prefix.ts";
import { cspForPage, makeNonce } from "#auth/security-headers.ts";
import type { GateSettings } from "#auth/settings.ts";

export interface PageFacts {
  readonly prefix: string;
  /** null in gated mode: then no token is in the page. */
  readonly token: string | null;
  readonly authRequired: boolean;
  readonly embeddedChat: boolean;
}

export function renderPage(html: string, facts: PageFacts, csp: GateSettings["csp"]): Response {
  const nonce = makeNonce();
  const script = `<script nonce="${nonce}">${bootstrap(facts)}</script>`;
  const body = html
    .replaceAll('href="./', `href="${href(facts.prefix, "/")}`)
    .replaceAll('src="./', `src="${href(facts.prefix, "/")}`)
    .replace("</head>", () => `${script}</head>`);
  return htmlResponse(body, 200, cspForPage(nonce, csp));
}

/** The API works without a build; pages say how to make one. */
export function renderNoBuild(csp: GateSettings["csp"]): Response {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Hermes</title>
<h1>The browser app is not built</h1><p>Run <code>npm run build</code>, then load this page again. The API works.</p></html>`;
  return htmlResponse(body, 503, cspForPage(makeNonce(), csp));
}

function htmlResponse(body: string, status: number, csp: string): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": csp },
  });
}

function bootstrap({ prefix, token, authRequired, embeddedChat }: PageFacts): string {
  const values: [string, unknown][] = [
    ["__HERMES_BASE_PATH__", prefix],
    ["__HERMES_AUTH_REQUIRED__", authRequired],
    ["__HERMES_DASHBOARD_EMBEDDED_CHAT__", embeddedChat],
  ];
  if (token !== null) values.unshift(["__HERMES_SESSION_TOKEN__", token]);
  return values.map(([name, value]) => `window.${name}=${scriptJson(value)};`).join("");
}

/** JSON that can stand in a script element: `<` would end it, U+2028 and U+2029 end a line of old parsers. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll("<", String.raw`\u003c`)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
}
