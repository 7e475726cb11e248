// Markdown -> sanitised HTML, a lazy chunk (dashboard.md §12.3): no raw HTML, no images, links that open outside.
import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";

/** One top-level piece of a text. A finished piece never changes while the rest streams in. */
export type Block =
  | { readonly kind: "code"; readonly language: string; readonly code: string }
  | { readonly kind: "html"; readonly raw: string };

const SAFE_LINK = /^(https?:|mailto:)/i;

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function link(href: string, label: string): string {
  if (!SAFE_LINK.test(href.trim())) return label;
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${label}</a>`;
}

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    // A remote image would tell a stranger that this text is being read: it becomes a link.
    image: ({ href, text }) => link(href, escapeHtml(text === "" ? href : text)),
    link({ href, tokens }) {
      return link(href, this.parser.parseInline(tokens));
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    table(token) {
      const cells = (row: Tokens.TableCell[], tag: "th" | "td") =>
        row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
      const body = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
      return `<div class="table-scroll" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${body}</tbody></table></div>`;
    },
  },
});

const ALLOWED_TAGS =
  "a b blockquote br code del div em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup table tbody td th thead tr ul".split(
    " ",
  );

/** Splits a text; link definitions go with every piece that may use them. */
export function blocksOf(text: string): readonly Block[] {
  const tokens = marked.lexer(text);
  const definitions = tokens
    .filter((token) => token.type === "def")
    .map((token) => token.raw)
    .join("");
  return tokens.flatMap((token): Block[] => {
    if (token.type === "space" || token.type === "def") return [];
    if (isCode(token)) {
      return [{ kind: "code", language: token.lang?.split(/\s/)[0] ?? "", code: token.text }];
    }
    const needsDefinitions = definitions !== "" && token.raw.includes("[");
    return [{ kind: "html", raw: needsDefinitions ? `${token.raw}\n\n${definitions}` : token.raw }];
  });
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === "code";
}

/** HTML of our own renderer, not sanitised yet; `toHtml` is what a page uses. */
export function renderHtml(raw: string): string {
  return marked.parse(raw, { async: false });
}

export function toHtml(raw: string): string {
  return DOMPurify.sanitize(renderHtml(raw), {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ["href", "target", "rel", "class", "tabindex", "start"],
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: SAFE_LINK,
  });
}
