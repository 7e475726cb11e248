// Splits a bash line into words with their quoting, operators, redirections and here-documents. It reads what bash would
// read and never runs anything. Grammar: bash(1), "DEFINITIONS", "QUOTING", "REDIRECTION".
// Over 300 lines because a lexer's states belong together.

export type Part =
  | { readonly kind: "text"; readonly text: string; readonly quoted: boolean }
  /** What stood between `${` and `}`, or after `$`. */
  | { readonly kind: "param"; readonly expression: string; readonly quoted: boolean }
  | { readonly kind: "command"; readonly source: string; readonly quoted: boolean }
  | { readonly kind: "process"; readonly source: string; readonly quoted: boolean }
  | { readonly kind: "arithmetic"; readonly source: string; readonly quoted: boolean };

export type Word = readonly Part[];

export type Token =
  | { readonly type: "word"; readonly word: Word }
  | { readonly type: "operator"; readonly text: string }
  /** `op` is `<`, `>`, `>>`, `<>`, `<<<`, `<<` …; of a here-document `target` is the body. */
  | { readonly type: "redirect"; readonly op: string; readonly target: Word };

interface Pending {
  readonly delimiter: string;
  readonly stripTabs: boolean;
  readonly literal: boolean;
  readonly fill: (body: Word) => void;
}

const META = new Set([" ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")"]);
const OPERATORS = [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"];
const REDIRECTS = ["<<<", "<<-", "<<", "<>", "<&", "&>>", "&>", ">>", ">&", ">|", "<", ">"];

/** Tokens in order. An unclosed quote or bracket ends with the text: what is there is still judged. */
export function lexShell(source: string): readonly Token[] {
  return new Lexer(source.replaceAll("\r\n", "\n")).tokens();
}

/** The body of a double-quoted string or of an unquoted here-document, as parts. */
export function lexQuoted(source: string): Word {
  return new Lexer(source).quotedParts(() => false);
}

class Lexer {
  readonly #source: string;
  #at = 0;
  readonly #pending: Pending[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  tokens(): readonly Token[] {
    const tokens: Token[] = [];
    while (this.#at < this.#source.length) {
      const token = this.#next();
      if (token) tokens.push(token);
    }
    this.#readBodies();
    return tokens;
  }

  #next(): Token | null {
    const char = this.#peek();
    if (char === " " || char === "\t") return this.#skip(1);
    if (char === "\\" && this.#peek(1) === "\n") return this.#skip(2);
    if (char === "#") return this.#comment();
    if (char === "\n") return this.#newline();
    return this.#redirect() ?? this.#operator() ?? this.#word();
  }

  #skip(count: number): null {
    this.#at += count;
    return null;
  }

  #comment(): null {
    const end = this.#source.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#source.length : end;
    return null;
  }

  #newline(): Token {
    this.#at++;
    this.#readBodies();
    return { type: "operator", text: "\n" };
  }

  #operator(): Token | null {
    const text = OPERATORS.find((operator) => this.#source.startsWith(operator, this.#at));
    if (text === undefined) return null;
    this.#at += text.length;
    return { type: "operator", text };
  }

  #redirect(): Token | null {
    const rest = this.#source.slice(this.#at, this.#at + 40);
    const prefix = /^(?:\d+|\{[A-Za-z_]\w*\})(?=[<>])/.exec(rest)?.[0] ?? "";
    const op = REDIRECTS.find((candidate) => rest.startsWith(candidate, prefix.length));
    if (op === undefined || this.#isProcess(prefix.length, op)) return null;
    this.#at += prefix.length + op.length;
    while (this.#peek() === " " || this.#peek() === "\t") this.#at++;
    if (op === "<<" || op === "<<-") return this.#hereDocument(op);
    return { type: "redirect", op, target: this.#atMeta() ? [] : this.#wordParts() };
  }

  #isProcess(offset: number, op: string): boolean {
    return (op === "<" || op === ">") && this.#peek(offset + 1) === "(";
  }

  #atMeta(): boolean {
    const char = this.#peek();
    if ((char === "<" || char === ">") && this.#peek(1) === "(") return false;
    return char === "" || META.has(char);
  }

  #hereDocument(op: string): Token {
    const delimiter = this.#atMeta() ? [] : this.#wordParts();
    const token = { type: "redirect" as const, op: "<<", target: [] as Word };
    this.#pending.push({
      delimiter: delimiter.map((part) => (part.kind === "text" ? part.text : "")).join(""),
      stripTabs: op === "<<-",
      literal: delimiter.some((part) => part.quoted),
      fill: (body) => void (token.target = body),
    });
    return token;
  }

  #readBodies(): void {
    for (const pending of this.#pending.splice(0)) {
      const lines: string[] = [];
      while (this.#at < this.#source.length) {
        const line = this.#line(pending.stripTabs);
        if (line === pending.delimiter) break;
        lines.push(line);
      }
      const body = lines.map((line) => `${line}\n`).join("");
      pending.fill(
        pending.literal ? [{ kind: "text", text: body, quoted: true }] : lexQuoted(body),
      );
    }
  }

  #line(stripTabs: boolean): string {
    const end = this.#source.indexOf("\n", this.#at);
    const stop = end === -1 ? this.#source.length : end;
    const line = this.#source.slice(this.#at, stop);
    this.#at = stop + 1;
    return stripTabs ? line.replace(/^\t+/, "") : line;
  }

  #word(): Token {
    return { type: "word", word: this.#wordParts() };
  }

  #wordParts(): Word {
    const parts: Part[] = [];
    const start = this.#at;
    while (this.#at < this.#source.length) {
      const process = this.#processPart();
      if (process) {
        parts.push(process);
        continue;
      }
      if (META.has(this.#peek())) break;
      parts.push(...this.#part());
    }
    // A stray bracket must not stop the lexer.
    if (this.#at === start) this.#at++;
    return parts;
  }

  #processPart(): Part | null {
    const char = this.#peek();
    if ((char !== "<" && char !== ">") || this.#peek(1) !== "(") return null;
    this.#at += 2;
    return { kind: "process", source: this.#balanced(")"), quoted: false };
  }

  #part(): readonly Part[] {
    const char = this.#peek();
    switch (char) {
      case "\\":
        return this.#escape();
      case "'":
        this.#at++;
        return [{ kind: "text", text: this.#until("'"), quoted: true }];
      case '"':
        this.#at++;
        return this.#doubleQuoted();
      case "`":
        return [this.#backticks(false)];
      case "$":
        return this.#dollar(false);
      default:
        this.#at++;
        return [{ kind: "text", text: char, quoted: false }];
    }
  }

  #escape(): readonly Part[] {
    const next = this.#peek(1);
    this.#at += 2;
    return next === "\n" ? [] : [{ kind: "text", text: next, quoted: true }];
  }

  #doubleQuoted(): readonly Part[] {
    const parts = this.quotedParts((char) => char === '"');
    this.#at++;
    // "" is a word of its own even when empty.
    return parts.length > 0 ? parts : [{ kind: "text", text: "", quoted: true }];
  }

  quotedParts(isEnd: (char: string) => boolean): readonly Part[] {
    const parts: Part[] = [];
    let text = "";
    const flush = (): void => {
      if (text !== "") parts.push({ kind: "text", text, quoted: true });
      text = "";
    };
    while (this.#at < this.#source.length && !isEnd(this.#peek())) {
      const char = this.#peek();
      if (char === "\\") {
        const next = this.#peek(1);
        if (next !== "\n") text += '$`"\\'.includes(next) ? next : `\\${next}`;
        this.#at += 2;
      } else if (char === "`" || char === "$") {
        flush();
        parts.push(...(char === "`" ? [this.#backticks(true)] : this.#dollar(true)));
      } else {
        text += char;
        this.#at++;
      }
    }
    flush();
    return parts;
  }

  #backticks(quoted: boolean): Part {
    this.#at++;
    let source = "";
    while (this.#at < this.#source.length && this.#peek() !== "`") {
      if (this.#peek() === "\\" && "`\\$".includes(this.#peek(1))) this.#at++;
      source += this.#peek();
      this.#at++;
    }
    this.#at++;
    return { kind: "command", source, quoted };
  }

  #dollar(quoted: boolean): readonly Part[] {
    const next = this.#peek(1);
    if (next === "(") return [this.#parenthesised(quoted)];
    if (next === "{") {
      this.#at += 2;
      return [{ kind: "param", expression: this.#balanced("}"), quoted }];
    }
    if (!quoted && next === "'") return this.#ansiC();
    if (!quoted && next === '"') {
      this.#at += 2;
      return this.#doubleQuoted();
    }
    const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(
      this.#source.slice(this.#at + 1, this.#at + 129),
    );
    this.#at += 1 + (name?.[0].length ?? 0);
    return name
      ? [{ kind: "param", expression: name[0], quoted }]
      : [{ kind: "text", text: "$", quoted }];
  }

  #parenthesised(quoted: boolean): Part {
    const arithmetic = this.#peek(2) === "(";
    this.#at += 2;
    const source = this.#balanced(")");
    // `$((…))` unless it is `$( (…) )`.
    if (arithmetic && source.endsWith(")"))
      return { kind: "arithmetic", source: source.slice(1, -1), quoted };
    return { kind: "command", source, quoted };
  }

  /** `$'…'`, ANSI-C quoting of bash(1). */
  #ansiC(): readonly Part[] {
    this.#at += 2;
    let raw = "";
    while (this.#at < this.#source.length && this.#peek() !== "'") {
      const take = this.#peek() === "\\" ? 2 : 1;
      raw += this.#source.slice(this.#at, this.#at + take);
      this.#at += take;
    }
    this.#at++;
    return [{ kind: "text", text: decodeEscapes(raw), quoted: true }];
  }

  #until(end: string): string {
    const stop = this.#source.indexOf(end, this.#at);
    const text = this.#source.slice(this.#at, stop === -1 ? this.#source.length : stop);
    this.#at = stop === -1 ? this.#source.length : stop + 1;
    return text;
  }

  /** Text up to the closing bracket of the one just read, quotes and nested brackets seen through. */
  #balanced(close: ")" | "}"): string {
    const open = close === ")" ? "(" : "{";
    const start = this.#at;
    for (let depth = 1; this.#at < this.#source.length; this.#at++) {
      const char = this.#peek();
      if (char === "\\") this.#at++;
      else if (char === "'" && close === ")") this.#toQuote("'");
      else if (char === '"') this.#toQuote('"');
      else if (char === "`") this.#toQuote("`");
      else if (char === open) depth++;
      else if (char === close && --depth === 0) break;
    }
    const text = this.#source.slice(start, this.#at);
    this.#at++;
    return text;
  }

  /** Leaves the position on the closing quote. Brackets inside `"…$(…)…"` are seen through once more. */
  #toQuote(quote: string): void {
    for (this.#at++; this.#at < this.#source.length && this.#peek() !== quote; this.#at++) {
      if (this.#peek() === "\\" && quote !== "'") this.#at++;
      else if (quote === '"' && this.#peek() === "$" && "({".includes(this.#peek(1) || " ")) {
        const close = this.#peek(1) === "(" ? ")" : "}";
        this.#at += 2;
        this.#balanced(close);
        this.#at--;
      }
    }
  }

  #peek(offset = 0): string {
    return this.#source[this.#at + offset] ?? "";
  }
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  e: "\u001B",
  E: "\u001B",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Escapes of `$'…'`, `echo -e` and `printf`: \n \xHH \NNN \0NNN \uHHHH \UHHHHHHHH \cX. */
export function decodeEscapes(text: string): string {
  return text.replace(
    /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(0?[0-7]{1,3})|c([\s\S])|([\s\S]))/g,
    (_all, hex: string, u4: string, u8: string, octal: string, control: string, other: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
      if (other !== undefined) return SIMPLE[other] ?? other;
      const code = Number.parseInt(hex ?? u4 ?? u8, 16);
      return code > 0x10ffff ? "\uFFFD" : String.fromCodePoint(code);
    },
  );
}
