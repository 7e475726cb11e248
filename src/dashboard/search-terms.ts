// What a person types into the search field -> the store's query: words are prefixes (dashboard.md §11.3).

const PLAIN_WORD = /^[\p{L}\p{N}]+$/u;
/** Found by substring anyway; a star would be searched for. */
const NO_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const OPERATORS: ReadonlySet<string> = new Set(["AND", "OR", "NOT"]);

/** Each plain word gets `*` unless it is quoted, starred or an operator. */
export function prefixTerms(text: string): string {
  const terms = text.match(/"[^"]*"?|\S+/g) ?? [];
  return terms.map((term) => (isPrefixable(term) ? `${term}*` : term)).join(" ");
}

function isPrefixable(term: string): boolean {
  return PLAIN_WORD.test(term) && !NO_SPACES.test(term) && !OPERATORS.has(term);
}
