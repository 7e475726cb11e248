// The type of a message table: the English one, with its literals widened. Another language has the same keys and
// parameters or it does not compile (dashboard.md §12.4).
export type Widen<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { readonly [K in keyof T]: Widen<T[K]> };

const numbers = new Map<string, Intl.NumberFormat>();
const rules = new Map<string, Intl.PluralRules>();

/** A number in the digits and grouping of `language`. */
export function count(language: string, value: number): string {
  const format = numbers.get(language) ?? new Intl.NumberFormat(language);
  numbers.set(language, format);
  return format.format(value);
}

/** The form of `value` by the plural rules of `language`; `#` stands for the number. */
export function plural(
  language: string,
  value: number,
  forms: { readonly one?: string; readonly other: string },
): string {
  const rule = rules.get(language) ?? new Intl.PluralRules(language);
  rules.set(language, rule);
  const form = rule.select(value) === "one" ? (forms.one ?? forms.other) : forms.other;
  return form.replace("#", count(language, value));
}
