// What is known about models without asking anybody: windows.json by longest match on the id (agent.md §3.3).
import rows from "./windows.json" with { type: "json" };

export interface BundledFacts {
  /** Context window in tokens. */
  readonly window: number;
  /** Most tokens of one answer; 0 = unknown. */
  readonly maxOutput: number;
  readonly vision: boolean;
  readonly reasoning: boolean;
  readonly family: string;
}

/** Used when nothing is known, with one notice. */
export const DEFAULT_WINDOW = 128_000;
/** Below this a model is refused. */
export const SMALLEST_WINDOW = 8192;

/** Facts of the row whose `match` is the longest in the id, or null. `4.6` and `4-6` are the same; `qwen…coder` is a coder. */
export function bundledFacts(model: string): BundledFacts | null {
  const id = normalized(model);
  let best: (typeof rows)[number] | null = null;
  for (const row of rows) {
    if (matches(id, row.match) && row.match.length > (best?.match.length ?? 0)) best = row;
  }
  if (best === null) return null;
  return {
    window: best.window,
    maxOutput: best.max_output,
    vision: best.vision,
    reasoning: best.reasoning,
    family: best.family,
  };
}

function normalized(model: string): string {
  return model
    .toLowerCase()
    .replaceAll(/[._:]/g, "-")
    .replace(/qwen[\d-]*coder/, "qwen-coder");
}

/** A match begins a word: `o3` is not in `foo3`. */
function matches(id: string, match: string): boolean {
  for (let at = id.indexOf(match); at >= 0; at = id.indexOf(match, at + 1)) {
    if (at === 0 || !/[a-z0-9]/.test(id[at - 1] ?? "")) return true;
  }
  return false;
}
