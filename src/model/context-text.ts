// Whether a provider's words say "the prompt is too long", and which limit they name (context-errors.json, agent.md §3.5).
import sources from "./context-errors.json" with { type: "json" };

let compiled: readonly RegExp[] | null = null;

export interface ContextHit {
  /** Tokens that the text names as the limit; null when it names none. */
  readonly limit: number | null;
}

/** null: the text is about something else. */
export function contextHit(text: string): ContextHit | null {
  compiled ??= sources.map((source) => new RegExp(source, "i"));
  const hits = compiled.map((pattern) => pattern.exec(text)).filter((hit) => hit !== null);
  if (hits.length === 0) return null;
  return { limit: hits.map(limitOf).find((limit) => limit !== null) ?? null };
}

function limitOf(hit: RegExpExecArray): number | null {
  const limit = Number(hit.groups?.["limit"]?.replaceAll(",", "") ?? "");
  return Number.isSafeInteger(limit) && limit > 0 ? limit : null;
}
