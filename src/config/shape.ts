// The tree as plain nodes: what reader, defaults, form, check and documents walk over.
import type * as z from "zod/mini";
import { leafRegistry, type LeafMeta } from "./leaf.ts";
import { configTree } from "./tree.ts";

export type LeafType = "boolean" | "number" | "text" | "choice" | "list" | "object" | "auto-flag";

export interface SectionNode {
  readonly kind: "section";
  readonly children: ReadonlyMap<string, TreeNode>;
}

/** `providers`, `mcp_servers`, …: names chosen by the user. */
export interface MapNode {
  readonly kind: "map";
  readonly meta: LeafMeta;
  readonly value: TreeNode;
  /** False within a map entry: absent when it is not given. */
  readonly hasDefault: boolean;
}

export interface LeafNode {
  readonly kind: "leaf";
  readonly meta: LeafMeta;
  readonly type: LeafType;
  readonly schema: z.core.$ZodType;
  /** Words of a choice, else empty. */
  readonly options: readonly string[];
  /** Undefined within a map entry. */
  readonly fallback: unknown;
  /** What a value must look like, for messages and documents. */
  readonly expects: string;
}

export type TreeNode = SectionNode | MapNode | LeafNode;

let root: SectionNode | null = null;

export function treeRoot(): SectionNode {
  root ??= describeTree(configTree);
  return root;
}

/** Throws on a setting without an entry in the registry. */
export function describeTree(schema: z.core.$ZodType): SectionNode {
  const node = describe(schema, null);
  if (node.kind !== "section") throw new Error("the tree's root is a section");
  return node;
}

/** A part of zod's definition objects, as far as the makers in leaf.ts produce them. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly entries?: Readonly<Record<string, string>>;
  readonly defaultValue?: unknown;
  readonly format?: string;
  readonly checks?: readonly z.core.$ZodCheck[];
}

// oxlint-disable-next-line no-underscore-dangle -- zod's documented door for libraries
const definitionOf = (schema: z.core.$ZodType): Definition => schema._zod.def;

/** `inherited` is the entry of the map around a schema that has none of its own. */
function describe(schema: z.core.$ZodType, inherited: LeafMeta | null): TreeNode {
  const definition = definitionOf(schema);
  if (definition.type === "prefault" && definition.innerType) {
    return describe(definition.innerType, inherited);
  }
  if (definition.type === "object") return describeSection(definition, inherited);
  const meta = leafRegistry.get(schema) ?? inherited;
  if (meta === null) throw new Error("a setting without a description");
  return describeLeaf(schema, meta);
}

function describeSection(definition: Definition, inherited: LeafMeta | null): SectionNode {
  const children = Object.entries(definition.shape ?? {});
  return {
    kind: "section",
    children: new Map(children.map(([key, child]) => [key, describe(child, inherited)])),
  };
}

function describeLeaf(schema: z.core.$ZodType, meta: LeafMeta): TreeNode {
  const inner = unwrap(schema);
  const definition = definitionOf(inner);
  const hasDefault = definitionOf(schema).type === "default";
  if (definition.type === "object") return describeSection(definition, meta);
  const value = definition.type === "record" ? definition.valueType : undefined;
  if (value !== undefined && definitionOf(value).type !== "unknown") {
    return { kind: "map", meta, hasDefault, value: describe(value, meta) };
  }
  const type = typeOf(definition);
  const options = meta.options ?? Object.keys(definition.entries ?? {});
  const expects = meta.expects ?? expectation(type, options, inner);
  const fallback = definitionOf(schema).defaultValue;
  return { kind: "leaf", meta, type, schema, options, fallback, expects };
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const { type, innerType } = definitionOf(schema);
  const isWrapper = type === "default" || type === "optional" || type === "nullable";
  return isWrapper && innerType ? unwrap(innerType) : schema;
}

function typeOf(definition: Definition): LeafType {
  switch (definition.type) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "text";
    case "enum":
      return "choice";
    case "array":
      return "list";
    case "record":
      return "object";
    case "union":
      return "auto-flag";
    default:
      throw new Error(`no setting has the type ${definition.type}`);
  }
}

function expectation(type: LeafType, options: readonly string[], inner: z.core.$ZodType): string {
  switch (type) {
    case "boolean":
      return "true or false";
    case "number":
      return numberRange(inner);
    case "text":
      return "a text";
    case "choice":
    case "auto-flag":
      return `one of ${options.map((word) => (word === "" ? '""' : word)).join(", ")}`;
    case "list":
      return "a list of texts";
    case "object":
      return "a mapping";
  }
}

function numberRange(schema: z.core.$ZodType): string {
  const { format, checks = [] } = definitionOf(schema);
  const kind = format === "safeint" ? "a whole number" : "a number";
  // oxlint-disable-next-line no-underscore-dangle -- zod's documented door for libraries
  const bounds = checks.map((check) => check._zod.def as { check: string; value?: number });
  const boundOf = (name: string) => bounds.find((bound) => bound.check === name)?.value;
  const [low, high] = [boundOf("greater_than"), boundOf("less_than")];
  return low === undefined ? kind : `${kind} from ${low} to ${high}`;
}

export interface LeafAt {
  readonly path: readonly string[];
  readonly node: LeafNode | MapNode;
}

/** Every leaf with its path, in the order of the tree; a map counts as one leaf. */
export function* leavesOf(
  node: TreeNode = treeRoot(),
  path: readonly string[] = [],
): Generator<LeafAt> {
  if (node.kind !== "section") {
    yield { path, node };
    return;
  }
  for (const [key, child] of node.children) yield* leavesOf(child, [...path, key]);
}

/** The node at a path: through maps by any name; null where the tree knows nothing. */
export function nodeAt(path: readonly string[]): TreeNode | null {
  let node: TreeNode = treeRoot();
  for (const key of path) {
    if (node.kind === "leaf") return null;
    const next: TreeNode | undefined = node.kind === "map" ? node.value : node.children.get(key);
    if (next === undefined) return null;
    node = next;
  }
  return node;
}

/** True when a wrong value anywhere below refuses the start. */
export function isGuarded(node: TreeNode): boolean {
  if (node.kind !== "section") return node.meta.guard === true;
  return [...node.children.values()].some(isGuarded);
}
