// Which of our languages somebody reads.
export const LANGUAGES = ["en", "zh-Hans"] as const;
export type Language = (typeof LANGUAGES)[number];

export function isLanguage(value: unknown): value is Language {
  return LANGUAGES.some((language) => language === value);
}

/** The stored choice, else the first of the browser's wishes that we have (BCP 47), else English. */
export function pickLanguage(stored: string | null, wishes: readonly string[]): Language {
  if (isLanguage(stored)) return stored;
  for (const wish of wishes) {
    const tag = wish.toLowerCase();
    if (tag.startsWith("en")) return "en";
    // Traditional Chinese readers (zh-Hant, zh-TW, zh-HK) go on to their next wish.
    if (/^zh(?!-(hant|tw|hk|mo))/.test(tag)) return "zh-Hans";
  }
  return "en";
}
