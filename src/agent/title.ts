// Titles of sessions (agent.md §6.6): asked from a model, cleaned, or made from the first line.
import { cutStart } from "#base/text.ts";
import { stripHidden } from "./visible-text.ts";

const MAX_TITLE = 100;
/** What of the exchange a title needs, in characters. */
const MAX_EXCERPT = 2000;

export interface TitlePrompt {
  readonly system: string;
  readonly text: string;
}

/** The request for a title of 3–7 words after the first answer. */
export function titlePrompt(userText: string, answer: string): TitlePrompt {
  return {
    system:
      "You name conversations. Answer with a title of 3 to 7 words in the language of the user's text. " +
      "Plain text on one line: no quotes, no full stop at the end, no Markdown, nothing else.",
    text: `User:\n${cutStart(userText, MAX_EXCERPT)}\n\nAssistant:\n${cutStart(answer, MAX_EXCERPT)}`,
  };
}

/** A model's title made fit, or null when nothing of it can be used. Uniqueness is the store's business. */
export function cleanTitle(raw: string): string | null {
  const line = stripHidden(raw)
    .split("\n")
    .map((part) => part.trim())
    .find((part) => part !== "");
  if (line === undefined) return null;
  const bare = line
    .replace(/^[#>*\-\s]+/u, "")
    .replace(/^title\s*:\s*/iu, "")
    .replace(/^["'“”‘’«»`*_]+|["'“”‘’«»`*_]+$/gu, "");
  return fit(bare.replace(/[.。]+$/u, ""));
}

/** A title that a person typed: hidden characters and line breaks go, the length is cut; null when nothing is left. */
export function cleanUserTitle(raw: string): string | null {
  return fit(stripHidden(raw));
}

/** The fallback: the first line with a letter or digit in it, else null. */
export function firstLineTitle(userText: string): string | null {
  const line = stripHidden(userText)
    .split("\n")
    .find((part) => /[\p{L}\p{N}]/u.test(part));
  return line === undefined ? null : fit(line);
}

/** `Plan` → `Plan #2` → `Plan #3`: the title of the session that goes on after a compression. */
export function nextInLineage(title: string): string {
  const match = / #(\d{1,6})$/u.exec(title);
  const base = match ? title.slice(0, match.index) : title;
  const suffix = ` #${match ? Number(match[1]) + 1 : 2}`;
  return cutStart(base, MAX_TITLE - suffix.length) + suffix;
}

function fit(text: string): string | null {
  const clean = cutStart(text.replace(/\s+/gu, " ").trim(), MAX_TITLE).trim();
  return clean === "" ? null : clean;
}
