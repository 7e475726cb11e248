// Claims come from outside: read as what they are, or as nothing.

export type Claims = Readonly<Record<string, unknown>>;

/** The first of these claims that is a non-empty text, else "". */
export function textClaim(claims: Claims, ...names: readonly string[]): string {
  for (const name of names) {
    const value = claims[name];
    if (typeof value === "string" && value.trim() !== "") return value;
  }
  return "";
}

/** A list of texts, or one text as a list of one. */
export function listClaim(claims: Claims, name: string): readonly string[] {
  const value = claims[name];
  if (typeof value === "string" && value !== "") return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
