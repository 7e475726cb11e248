// Colours for code, a lazy chunk (dashboard.md §12.1): highlight.js with the languages that conversations have.
import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

for (const [name, language] of Object.entries(LANGUAGES)) core.registerLanguage(name, language);

/** Longer code stays plain: colouring it would hold up the page. */
const MOST_CHARS = 50_000;

/** Escaped HTML with `hljs-*` spans and nothing else; null for what is not known or too long. */
export function highlight(code: string, language: string): string | null {
  if (code.length > MOST_CHARS || core.getLanguage(language) === undefined) return null;
  return core.highlight(code, { language, ignoreIllegals: true }).value;
}
