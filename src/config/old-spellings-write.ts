// Where a change goes in a file that uses old spellings: they are kept on writing (agent.md §2.2).
import { modernise } from "./old-spellings.ts";
import { getAt, isMapping, toPlain, type Mapping } from "./plain.ts";
import type { Edit } from "./yaml-edit.ts";

/** A change by today's key. An undefined value removes it. */
export interface PathChange {
  readonly path: readonly string[];
  readonly value: unknown;
}

export function placesToWrite(raw: Mapping, change: PathChange): Edit[] {
  const { path, value } = isModelName(raw, change)
    ? { path: ["model", "default"], value: change.value }
    : change;
  const old = modernise(raw).oldPathOf(path);
  if (value === undefined) {
    // Removing one spelling would bring the other to light.
    const places = old.join("\0") === path.join("\0") ? [path] : [path, old];
    return places
      .filter((place) => getAt(raw, place) !== undefined)
      .map((at) => ({ path: at, value }));
  }
  if (getAt(raw, path) !== undefined) return [{ path, value }];
  const isModelText = typeof raw["model"] === "string" && path[0] === "model" && path.length > 1;
  if (isModelText && path[1] !== "default") return [modelAsMapping(raw["model"], path, value)];
  return [{ path: old, value }];
}

/** `model = TEXT` names the model; it does not throw the other keys of the section away. */
function isModelName(raw: Mapping, { path, value }: PathChange): boolean {
  const names = path.length === 1 && path[0] === "model" && typeof value === "string";
  return names && typeof raw["model"] !== "string";
}

function modelAsMapping(name: unknown, path: readonly string[], value: unknown): Edit {
  const inner = path.slice(1).reduceRight<unknown>((child, key) => ({ [key]: child }), value);
  const rest = isMapping(inner) ? inner : {};
  return { path: ["model"], value: toPlain({ default: name, ...rest }) };
}
