// What a form sends back, as single changes: only what differs is written, so references and comments stay.
import { isDeepStrictEqual } from "node:util";
import type { PathChange } from "./legacy-write.ts";
import { isMapping, type Mapping } from "./plain.ts";
import { isGuarded, nodeAt, treeRoot, type TreeNode } from "./shape.ts";
import type { Config } from "./tree.ts";

/** Stands for a secret that is set: never shown, and unchanged when it comes back (dashboard.md §11.5). */
const SET = "__set__";

/** A copy in which every secret that is set reads `__set__`; an unset one stays empty. */
export function maskSecrets(config: Config): Mapping {
  return mask(treeRoot(), config) as Mapping;
}

function mask(node: TreeNode, value: unknown): unknown {
  if (node.kind === "leaf") return node.meta.secret && value !== "" ? SET : structuredClone(value);
  if (!isMapping(value)) return structuredClone(value);
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const child = node.kind === "map" ? node.value : node.children.get(key);
    return [key, child === undefined ? structuredClone(item) : mask(child, item)];
  });
  return Object.fromEntries(entries);
}

/**
 * The changes that lead from `current` to `next`. A key that `next` leaves out stays as it is, except in maps, whose
 * entries it removes. `__set__` is unchanged.
 */
export function configChanges(current: Config, next: Mapping): PathChange[] {
  return [...differences(treeRoot(), current, next, [])];
}

function* differences(
  node: TreeNode | null,
  current: unknown,
  next: unknown,
  path: readonly string[],
): Generator<PathChange> {
  if (next === SET || isDeepStrictEqual(current, next)) return;
  const isDeep = node !== null && node.kind !== "leaf" && isMapping(current) && isMapping(next);
  if (!isDeep) {
    yield { path, value: next };
    return;
  }
  for (const [key, value] of Object.entries(next)) {
    yield* differences(childOf(node, key), current[key], value, [...path, key]);
  }
  if (path.length === 0 || isSection(path)) return;
  for (const key of Object.keys(current)) {
    if (!Object.hasOwn(next, key)) yield { path: [...path, key], value: undefined };
  }
}

function childOf(node: TreeNode, key: string): TreeNode | null {
  if (node.kind === "leaf") return null;
  return node.kind === "map" ? node.value : (node.children.get(key) ?? null);
}

/** A section with fixed keys: what a form does not show is not removed by saving it. */
function isSection(path: readonly string[]): boolean {
  return nodeAt(path)?.kind === "section" && nodeAt(path.slice(0, -1))?.kind !== "map";
}

/** True when the change touches a setting that decides who gets in or what may run. */
export function isGuardedChange(change: PathChange): boolean {
  for (let depth = change.path.length; depth > 0; depth--) {
    const node = nodeAt(change.path.slice(0, depth));
    if (node !== null) return isGuarded(node);
  }
  return false;
}
