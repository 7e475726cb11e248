// Query parameters: checked, with the bounds of dashboard.md §11.
import { invalidField } from "./errors.ts";

/** A whole number; above `most` it is cut to it, below `least` or no number is 422. */
export function intParam(
  query: URLSearchParams,
  name: string,
  rule: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  const text = query.get(name);
  if (text === null || text === "") return rule.fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= rule.least)) {
    throw invalidField("query", name, `must be a whole number of at least ${rule.least}`);
  }
  return Math.min(value, rule.most);
}

export function pageParams(
  query: URLSearchParams,
  fallback = 20,
): { limit: number; offset: number } {
  return {
    limit: intParam(query, "limit", { fallback, least: 1, most: 500 }),
    offset: intParam(query, "offset", { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER }),
  };
}

/** `1`, `true`, `yes` or a bare name switch on. */
export function flagParam(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)?.toLowerCase();
  return text !== undefined && ["", "1", "true", "yes"].includes(text);
}

export function requiredParam(query: URLSearchParams, name: string): string {
  const text = query.get(name);
  if (text === null) throw invalidField("query", name, "is required");
  return text;
}

/** undefined when absent or blank. */
export function textParam(query: URLSearchParams, name: string): string | undefined {
  return query.get(name)?.trim() || undefined;
}
