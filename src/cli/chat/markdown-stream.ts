// Markdown of a streaming answer for the terminal (`display.final_response_markdown`). Plain words pass at once; from the
// first mark of a line on, the line waits for its end, because a mark means nothing before its partner came.
import type { Lexer as LexerClass, Token } from "marked";
import { inert } from "#base/text.ts";
import type { Io } from "../io.ts";

export type MarkdownMode = "render" | "strip" | "raw";

const FENCE = /^\s*(```|~~~)/;
/** What could still become a heading, quote, list item, table row or fence when more of the line comes. */
const BLOCK_START = /^\s*(#{1,6}(\s|$)|>|[-*+](\s|$)|\d{1,3}[.)](\s|$)|`{1,3}|~{1,3}|\||\s*$)/;
const MARK = /[*_`[\]!<~\\&]|https?:/;

export class MarkdownStream {
  readonly #mode: MarkdownMode;
  readonly #paint: Io["paint"];
  readonly #lexer: Pick<typeof LexerClass, "lexInline">;
  /** Of the current line: what was not shown yet. */
  #rest = "";
  /** Something of the current line was shown. */
  #begun = false;
  #isCode = false;

  constructor(mode: MarkdownMode, paint: Io["paint"], lexer: Pick<typeof LexerClass, "lexInline">) {
    this.#mode = mode;
    this.#paint = paint;
    this.#lexer = lexer;
  }

  /** What can be shown now. */
  push(text: string): string {
    if (this.#mode === "raw") return text;
    const [first = "", ...others] = text.split("\n");
    let shown = this.#add(first);
    for (const line of others) shown += `${this.#endLine()}\n${this.#add(line)}`;
    return shown;
  }

  /** The rest of a line that has no end, when something else is shown. */
  flush(): string {
    return this.#endLine();
  }

  /** A new answer: no code block reaches into it. */
  reset(): void {
    this.#rest = "";
    this.#begun = false;
    this.#isCode = false;
  }

  #add(text: string): string {
    this.#rest += text;
    if (this.#isCode || this.#rest === "") return "";
    if (!this.#begun && BLOCK_START.test(this.#rest)) return "";
    const mark = MARK.exec(this.#rest);
    const end = mark ? mark.index : this.#rest.length;
    const shown = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    this.#begun ||= shown !== "";
    return shown;
  }

  #endLine(): string {
    const line = this.#rest;
    const begun = this.#begun;
    this.#rest = "";
    this.#begun = false;
    if (begun) return this.#inline(line);
    if (FENCE.test(line)) {
      this.#isCode = !this.#isCode;
      return this.#style("dim", this.#mode === "strip" ? "" : line);
    }
    return this.#isCode ? this.#style("cyan", line) : this.#block(line);
  }

  #block(line: string): string {
    const heading = /^\s*#{1,6}\s+(.*?)\s*#*\s*$/.exec(line);
    if (heading) return this.#style("bold", this.#inline(heading[1] ?? ""));
    const quote = /^(\s*)>\s?(.*)$/.exec(line);
    if (quote) return `${quote[1] ?? ""}${this.#style("dim", `│ ${this.#inline(quote[2] ?? "")}`)}`;
    const item = /^(\s*)[-*+]\s+(.*)$/.exec(line);
    if (item) return `${item[1] ?? ""}• ${this.#inline(item[2] ?? "")}`;
    return this.#inline(line);
  }

  #inline(text: string): string {
    return text === "" ? "" : this.#tokens(this.#lexer.lexInline(text));
  }

  #tokens(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#token(token)).join("");
  }

  #token(token: Token): string {
    const inner = "tokens" in token && token.tokens ? this.#tokens(token.tokens) : textOf(token);
    switch (token.type) {
      case "strong":
        return this.#style("bold", inner);
      case "em":
        return this.#style("italic", inner);
      case "codespan":
        return this.#style("cyan", inner);
      case "link":
        return inner === token["href"] ? inner : `${inner} (${String(token["href"])})`;
      case "image":
        return `${inner} (${String(token["href"])})`;
      case "text":
      case "escape":
        return inner;
      default:
        return token.raw;
    }
  }

  #style(style: Parameters<Io["paint"]>[0], text: string): string {
    return this.#mode === "render" && text !== "" ? this.#paint(style, text) : text;
  }
}

function textOf(token: Token): string {
  const text = "text" in token && typeof token.text === "string" ? token.text : token.raw;
  // `&#27;` comes out of the lexer as the character itself.
  return inert(text);
}
