// The one tokenizer of `.env`, for reader and editor (agent.md §2.4). Library parsers cut an unquoted value at every
// `#`, which destroys tokens such as `abc#def`.

export type EnvToken =
  | {
      readonly kind: "pair";
      readonly name: string;
      readonly value: string;
      readonly line: number;
      /** The value as written, quotes included. */
      readonly start: number;
      readonly end: number;
      /** The statement with its line end. */
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: "bad"; readonly line: number };

const EMPTY = /[ \t\r]*(?:#[^\n]*)?(?:\n|$)/y;
const HEAD = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=/y;
const QUOTED =
  /[ \t]*(?:'([^']*)'|"([^"\\]*(?:\\[^][^"\\]*)*)")(?=[ \t\r]*(?:[ \t]#[^\n]*)?(?:\n|$))/y;
const REST = /[^\n]*(?:\n|$)/y;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"', "\\": "\\" };

/** No environment variable can hold it. */
const NUL = "\0";

/** Every statement and every bad line in order; empty lines and comments have no token. */
export function tokenizeEnv(text: string): EnvToken[] {
  const tokens: EnvToken[] = [];
  let line = 1;
  for (let at = text.startsWith("\uFEFF") ? 1 : 0; at < text.length;) {
    let to = matchAt(EMPTY, text, at)?.end;
    if (to === undefined) {
      const token = readStatement(text, at, line);
      tokens.push(token);
      to = token.kind === "pair" ? token.to : endOfLine(text, at);
    }
    line += text.slice(at, to).split("\n").length - 1;
    at = to;
  }
  return tokens;
}

/** Name → value; of a name that stands twice the last one wins. */
export function parseEnv(text: string): Map<string, string> {
  const pairs = tokenizeEnv(text).filter((token) => token.kind === "pair");
  return new Map(pairs.map((pair) => [pair.name, pair.value]));
}

function readStatement(text: string, from: number, line: number): EnvToken {
  const head = matchAt(HEAD, text, from);
  if (head === null) return { kind: "bad", line };
  const pair = { kind: "pair", name: head.groups[1] ?? "", line, from } as const;
  const quoted = matchAt(QUOTED, text, head.end);
  if (quoted !== null) {
    const value = quoted.groups[1] ?? unescape(quoted.groups[2] ?? "");
    if (value.includes(NUL)) return { kind: "bad", line };
    const start = text.slice(head.end).search(/['"]/) + head.end;
    return { ...pair, value, start, end: quoted.end, to: endOfLine(text, quoted.end) };
  }
  const to = endOfLine(text, head.end);
  const raw = text.slice(head.end, to).replace(/[ \t]#[^]*$/, "");
  const value = raw.replace(/^[ \t]+|[ \t\r\n]+$/g, "");
  if (/^['"]/.test(value) || value.includes(NUL)) return { kind: "bad", line };
  const start = head.end + (value === "" ? 0 : raw.indexOf(value));
  return { ...pair, value, start, end: start + value.length, to };
}

const unescape = (inner: string): string =>
  inner.replace(/\\([nt"\\])/g, (_, letter: string) => ESCAPES[letter] ?? "");

const endOfLine = (text: string, at: number): number => matchAt(REST, text, at)?.end ?? text.length;

function matchAt(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at;
  const groups = pattern.exec(text);
  return groups === null ? null : { groups, end: at + groups[0].length };
}
