// Rules that look at more than one value.
import type { Place } from "./document.ts";
import type { Finding } from "./evaluate.ts";
import { isMapping, type Mapping } from "./plain.ts";

/** The demo model is no AI: it may never step in for one (agent.md §2.2, §3.6). */
export function crossFindings(
  value: Mapping,
  placeOf: (path: readonly string[]) => Place | null,
): Finding[] {
  const list: unknown = value["fallback_providers"];
  const isDemo = Array.isArray(list) && list.some((entry) => isMapping(entry) && namesDemo(entry));
  if (!isDemo) return [];
  return [
    {
      code: "CONFIG_VALUE_INVALID",
      level: "error",
      kind: "file",
      setting: "fallback_providers",
      message: "fallback_providers: demo is not an AI and cannot stand in for one",
      fix: "Remove it from fallback_providers.",
      place: placeOf(["fallback_providers"]),
    },
  ];
}

function namesDemo(entry: Mapping): boolean {
  return entry["provider"] === "demo" || /^demo(?::|$)/.test(String(entry["model"]));
}
