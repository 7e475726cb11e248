// Words of the index that begin with a prefix. FTS5 merges all rows of all such words before it gives the first one;
// the same words joined by OR are read lazily, newest first.
import type { Sql } from "./sqlite.ts";

/** Beyond this many words merging is the better way. */
const WORD_LIMIT = 128;
/** Prefixes up to this length have an index of their own (`prefix='1 2 3'`). */
const INDEXED_LENGTH = 3;

/** The words as the index spells them, or null when FTS5's own prefix search should do it. */
export function expandPrefix(sql: Sql, prefix: string): readonly string[] | null {
  const stem = fold(prefix);
  if (stem === null || stem.length <= INDEXED_LENGTH) return null;
  const words: string[] = [];
  for (let from = stem; words.length <= WORD_LIMIT;) {
    const word = firstWordFrom(sql, from);
    if (word === undefined || !word.startsWith(stem)) return words;
    words.push(word);
    // NUL sorts before every character of a word: the next word after this one.
    from = `${word}\0`;
  }
  return null;
}

/** Only plain letters and digits, where the tokenizer's folding (`remove_diacritics 2`) is certain to be the same. */
function fold(prefix: string): string | null {
  const folded = prefix.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return /^[a-z0-9]+$/.test(folded) ? folded : null;
}

function firstWordFrom(sql: Sql, from: string): string | undefined {
  const row = sql.get<{ term: string }>(
    "SELECT term FROM temp.messages_fts_vocabulary WHERE term >= ? LIMIT 1",
    from,
  );
  return row?.term;
}

/** Per connection: the vocabulary is a view of the index, kept in the connection's temporary schema. */
export function attachVocabulary(sql: Sql): void {
  sql.exec(
    "CREATE VIRTUAL TABLE temp.messages_fts_vocabulary USING fts5vocab('main', 'messages_fts', 'instance')",
  );
}
