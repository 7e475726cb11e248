// The container's words as boot.json may show them (container.md §3, H0): what is, or is named like, a secret is hidden.

const NAMES_SECRET = /(?:key|token|secret|passwords?|passphrase|bootstrap|authorization)$/iu;
const HIDDEN = "***";
/** Shorter values would hide ordinary words. */
const MIN_LENGTH = 4;

/** `--token X`, `config set API_KEY X`, `NAME_TOKEN=X`, `-H "Authorization: X"`, and every value of a secret variable. */
export function hideSecrets(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    NAMES_SECRET.test(name) && value !== undefined && value.length >= MIN_LENGTH ? [value] : [],
  );
  return words.map((word, index) => {
    if (NAMES_SECRET.test(words[index - 1] ?? "") && !word.startsWith("--")) return HIDDEN;
    const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), word);
    return hidden.replace(ASSIGNMENT, (_, name: string) => `${name}${HIDDEN}`);
  });
}

const ASSIGNMENT = /([\w-]*(?:key|token|secret|password|authorization)\s*[=:])[^]+$/iu;
