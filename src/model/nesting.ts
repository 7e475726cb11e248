// Arguments that no program sends: JSON so deep that whoever walks it runs out of stack.

/** No tool takes more than a few levels; walkers of ours and of the SDK manage some thousand. */
export const MOST_LEVELS = 100;

export function isTooDeep(value: unknown, levels: number = MOST_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isTooDeep(entry, levels - 1));
}
