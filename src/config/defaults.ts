// The tree's defaults, built with an empty environment: body of `/api/config/defaults`.
import type { Config } from "./tree.ts";
import { treeRoot, type SectionNode } from "./shape.ts";
import { deepFreeze, type Mapping } from "./plain.ts";

export function configDefaults(): Config {
  return deepFreeze(defaultsOf(treeRoot())) as unknown as Config;
}

function defaultsOf(section: SectionNode): Mapping {
  const result: Mapping = {};
  for (const [key, node] of section.children) {
    if (node.kind === "section") result[key] = defaultsOf(node);
    else if (node.kind === "map") result[key] = {};
    else if (node.fallback !== undefined) result[key] = structuredClone(node.fallback);
  }
  return result;
}
