// What a person typed as a query of the two indexes (agent.md §6.5). Any text is allowed; none is an error.

interface Term {
  readonly text: string;
  /** `word*` */
  readonly prefix: boolean;
  /** From `"…"`: taken as it stands. */
  readonly phrase: boolean;
}

/** Terms that must all be there, and terms that must not. */
export interface Group {
  readonly all: readonly Term[];
  readonly none: readonly Term[];
}

export type SearchQuery =
  /** Nothing to look for: the recent list. */
  | { readonly kind: "empty" }
  /** The word index. Groups are joined by OR. */
  | { readonly kind: "words"; readonly groups: readonly Group[] }
  /** CJK, Thai and kin, or no word at all: substrings. */
  | { readonly kind: "substrings"; readonly groups: readonly Group[] };

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const WORD_CHARACTER = /[\p{L}\p{N}\p{Co}]/u;
/** More terms than anyone types; the rest of a pasted text is left out. */
const TERM_LIMIT = 32;
const OPERATORS: ReadonlySet<string> = new Set(["AND", "OR", "NOT"]);

type Token = { readonly operator: string } | { readonly term: Term };

export function parseSearch(text: string): SearchQuery {
  const groups = toGroups(tokenize(text).slice(0, TERM_LIMIT));
  const terms = groups.flatMap((group) => [...group.all, ...group.none]);
  if (terms.length === 0) return { kind: "empty" };
  const isWord = (term: Term): boolean => WORD_CHARACTER.test(term.text);
  if (terms.some((term) => UNSPACED.test(term.text)) || !terms.some(isWord)) {
    return { kind: "substrings", groups };
  }
  // A term of signs only has no word to look for; beside real words it is left out.
  const words = groups.map(({ all, none }) => ({
    all: all.filter(isWord),
    none: none.filter(isWord),
  }));
  const useful = words.filter((group) => group.all.length > 0);
  return useful.length > 0 ? { kind: "words", groups: useful } : { kind: "substrings", groups };
}

/** Quoted phrases, words and operators in order. A quote without its partner is dropped. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  // NUL would end the text inside SQLite.
  for (const [, phrase, star, word] of text
    .replaceAll("\0", " ")
    .matchAll(/"([^"]*)"(\*?)|([^\s"]+)/g)) {
    if (phrase !== undefined) {
      if (phrase.trim() !== "")
        tokens.push({ term: { text: phrase.trim(), prefix: star === "*", phrase: true } });
    } else if (word !== undefined && OPERATORS.has(word)) {
      tokens.push({ operator: word });
    } else if (word !== undefined) {
      const bare = word.replace(/\*+$/, "");
      if (bare !== "") tokens.push({ term: { text: bare, prefix: bare !== word, phrase: false } });
    }
  }
  return tokens;
}

/** An operator without something on both sides says nothing and is dropped. */
function toGroups(tokens: readonly Token[]): Group[] {
  const groups: { all: Term[]; none: Term[] }[] = [{ all: [], none: [] }];
  let negate = false;
  for (const token of tokens) {
    const group = groups.at(-1);
    if (!group) break;
    if ("term" in token) {
      // NOT needs something to take away from.
      if (negate && group.all.length > 0) group.none.push(token.term);
      else group.all.push(token.term);
      negate = false;
    } else if (token.operator === "OR") {
      if (group.all.length > 0) groups.push({ all: [], none: [] });
      negate = false;
    } else {
      negate = token.operator === "NOT";
    }
  }
  return groups.filter((group) => group.all.length > 0);
}

/** Signs that make another word of a word (`100%`, `C++`, `#tag`), unlike the punctuation of a sentence. */
const TELLING = /[%#@&\\\p{S}]/u;
const PUNCTUATION_AROUND = /^[^\p{L}\p{N}%#@&\\\p{S}]+|[^\p{L}\p{M}\p{N}%#@&\\\p{S}]+$/gu;

/** The index knows only the words of such terms, so hits are checked for the whole, in lower case. */
export function literalTerms(groups: readonly Group[]): readonly string[] {
  if (groups.length !== 1) return [];
  const terms = groups[0]?.all.filter((term) => !term.phrase && TELLING.test(term.text)) ?? [];
  return terms.map((term) => term.text.replace(PUNCTUATION_AROUND, "").toLowerCase());
}

/** FTS5 query text (sqlite.org/fts5.html §3). Every term is quoted, so no sign in it has a meaning. */
export function toMatch(
  groups: readonly Group[],
  expand: (prefix: string) => readonly string[] | null,
): string {
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const termText = (term: Term): string => {
    const words = term.prefix && !term.phrase ? expand(term.text) : null;
    if (words !== null && words.length > 0) return `(${words.map(quote).join(" OR ")})`;
    return quote(term.text) + (term.prefix ? "*" : "");
  };
  return groups
    .map(({ all, none }) => {
      const wanted = all.map(termText).join(" AND ");
      return none.length === 0
        ? `(${wanted})`
        : `((${wanted}) NOT (${none.map(termText).join(" OR ")}))`;
    })
    .join(" OR ");
}

/** A LIKE pattern that finds at least every row with `text`: `%` and `_` match any one character, hits are checked again. */
export function toLike(text: string): string {
  return `%${text.replace(/[%_]/g, "_")}%`;
}

/** Whether the trigram index can help: a run of three characters without wildcard (sqlite.org/fts5.html §4.3.4). */
export function hasTrigram(text: string): boolean {
  return text.split(/[%_]/).some((run) => Array.from(run).length >= 3);
}
