// One mapping + overrides → values for every leaf, and a finding for everything that is wrong (agent.md §2.3).
import type { Place } from "./document.ts";
import { take } from "./coerce.ts";
import { isMapping, toPlain, WrittenNumber, type Mapping } from "./plain.ts";
import type { Resolver } from "./references.ts";
import {
  isGuarded,
  treeRoot,
  type LeafNode,
  type MapNode,
  type SectionNode,
  type TreeNode,
} from "./shape.ts";

/** A value that beats the file. The first one that is usable wins. */
export interface Override {
  readonly value: unknown;
  /** Flag or variable, as people write it. */
  readonly from: string;
  readonly kind: "flag" | "env";
}

export interface Finding {
  readonly code: string;
  readonly level: "error" | "warning";
  readonly kind: "file" | "flag" | "env";
  /** Key of the setting, or the flag or variable at fault. */
  readonly setting: string;
  readonly message: string;
  readonly fix: string | null;
  readonly place: Place | null;
}

export interface EvaluateInput {
  readonly raw: Mapping;
  readonly resolver: Resolver;
  readonly overrides: ReadonlyMap<string, readonly Override[]>;
  placeOf(path: readonly string[]): Place | null;
  /** False: the file's value of this leaf is passed over (safe mode). */
  isRead(path: readonly string[], node: TreeNode): boolean;
}

export interface Evaluation {
  readonly value: Mapping;
  readonly findings: readonly Finding[];
}

export function evaluate(input: EvaluateInput): Evaluation {
  const findings: Finding[] = [];
  const value = readSection({ ...input, findings }, treeRoot(), input.raw, [], true);
  return { value, findings };
}

interface Context extends EvaluateInput {
  readonly findings: Finding[];
}

type Path = readonly string[];

function readNode(context: Context, node: TreeNode, raw: unknown, path: Path): unknown {
  switch (node.kind) {
    case "section":
      return readSection(context, node, raw, path, true);
    case "map":
      return readMap(context, node, raw, path);
    case "leaf":
      return readLeaf(context, node, raw, path);
  }
}

/** `isWhole`: missing keys get their default. An entry of a map has only what is written. */
function readSection(
  context: Context,
  node: SectionNode,
  raw: unknown,
  path: Path,
  isWhole: boolean,
): Mapping {
  const mapping = asMapping(context, node, raw, path);
  const result: Mapping = {};
  for (const [key, child] of node.children) {
    const value = Object.hasOwn(mapping, key) ? mapping[key] : undefined;
    if (!isWhole && (value === undefined || value === null)) continue;
    const read = readNode(context, child, value, [...path, key]);
    if (read !== undefined) result[key] = read;
  }
  if (!context.isRead(path, node)) return result;
  const unknown = Object.entries(mapping).filter(([key]) => !node.children.has(key));
  return { ...result, ...(resolveAll(context, Object.fromEntries(unknown)) as Mapping) };
}

function readMap(context: Context, node: MapNode, raw: unknown, path: Path): unknown {
  const isAbsent = raw === undefined || raw === null || !context.isRead(path, node);
  if (isAbsent) return node.hasDefault ? {} : undefined;
  const result: Mapping = {};
  for (const [key, value] of Object.entries(asMapping(context, node, raw, path))) {
    if (key === "__proto__" || value === undefined || value === null) continue;
    const at = [...path, key];
    const read =
      node.value.kind === "section"
        ? readSection(context, node.value, value, at, false)
        : readNode(context, node.value, value, at);
    if (read !== undefined) result[key] = read;
  }
  return result;
}

function asMapping(context: Context, node: TreeNode, raw: unknown, path: Path): Mapping {
  if (raw === undefined || raw === null) return {};
  if (isMapping(raw)) return raw;
  report(context, isGuarded(node), path, raw, "a mapping");
  return {};
}

function readLeaf(context: Context, node: LeafNode, raw: unknown, path: Path): unknown {
  for (const override of context.overrides.get(path.join(".")) ?? []) {
    const taken = take(node, override.value, true);
    if (taken.ok) return taken.value;
    reportOverride(context, node, override);
  }
  if (raw === undefined || raw === null || !context.isRead(path, node)) return copy(node.fallback);
  const value = resolve(context, raw);
  const taken = take(node, value, value !== raw);
  if (taken.ok) return taken.value;
  report(context, node.meta.guard === true, path, node.meta.secret ? undefined : raw, node.expects);
  return copy(node.fallback);
}

const copy = (value: unknown): unknown => structuredClone(value);

/** The same object when nothing was replaced, so that the caller can tell. */
function resolve(context: Context, raw: unknown): unknown {
  if (typeof raw === "string") return context.resolver.text(raw);
  if (Array.isArray(raw)) return raw.map((item) => resolve(context, item));
  if (!isMapping(raw)) return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([key, item]) => [key, resolve(context, item)]),
  );
}

function resolveAll(context: Context, value: unknown): unknown {
  return toPlain(value, (text) => context.resolver.text(text));
}

function report(
  context: Context,
  isGuard: boolean,
  path: Path,
  raw: unknown,
  expects: string,
): void {
  const setting = path.join(".");
  const shown = raw === undefined ? "the value" : show(raw);
  const end = isGuard ? "" : "; its default is used";
  context.findings.push({
    code: "CONFIG_VALUE_INVALID",
    level: isGuard ? "error" : "warning",
    kind: "file",
    setting,
    message: `${setting}: ${shown} is not ${expects}${end}`,
    fix: `Set it to ${expects}, or remove it.`,
    place: context.placeOf(path),
  });
}

function reportOverride(context: Context, node: LeafNode, override: Override): void {
  const { from, kind } = override;
  const shown = node.meta.secret ? "its value" : show(override.value);
  const isError = kind === "flag" || node.meta.guard === true;
  context.findings.push({
    code: kind === "flag" ? "FLAG_INVALID" : "ENV_VALUE_INVALID",
    level: isError ? "error" : "warning",
    kind,
    setting: from,
    message: `${from}: ${shown} is not ${node.expects}${isError ? "" : "; it is ignored"}`,
    fix: `Set it to ${node.expects}, or leave it out.`,
    place: null,
  });
}

function show(raw: unknown): string {
  if (raw instanceof WrittenNumber) return raw.text;
  const text = JSON.stringify(toPlain(raw)) ?? "";
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
