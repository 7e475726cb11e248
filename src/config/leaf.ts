// How one setting is written down: a zod/mini schema with its default, and its entry in the registry of leaves.
import * as z from "zod/mini";

/** In the order in which forms and documents show them (agent.md §2.2); the rest follows by name. */
export const CATEGORY_ORDER = [
  "general",
  "agent",
  "terminal",
  "display",
  "memory",
  "compression",
  "security",
  "gateway",
  "logging",
  "auxiliary",
  "dashboard",
] as const;

export type Category = (typeof CATEGORY_ORDER)[number];

export interface LeafMeta {
  readonly description: string;
  readonly category: Category;
  /** Its value is never shown. */
  readonly secret?: boolean;
  /** Access, approvals, binds and ports, backend, dashboard login: a wrong value refuses the start (exit 78). */
  readonly guard?: boolean;
  /** A running service reads it only when it starts. */
  readonly restart?: boolean;
  /** In no form and no document. */
  readonly hidden?: boolean;
  /** Words of a choice whose schema is not an enum. */
  readonly options?: readonly string[];
  /** What a value must look like, for the message about a wrong one; derived from the schema where that is enough. */
  readonly expects?: string;
}

// oxlint-disable-next-line no-underscore-dangle -- zod/mini's name; `default` is a reserved word
const withDefault = z._default;

type Extra = Omit<LeafMeta, "description" | "category">;

/** The one registry: no leaf without an entry. */
export const leafRegistry = z.registry<LeafMeta>();

/** A mapping of settings. Unknown keys are kept, which the type does not show. */
export function section<const S extends z.core.$ZodShape>(
  shape: S,
): z.ZodMiniPrefault<z.ZodMiniObject<S>> {
  const loose: z.ZodMiniObject<S> = z.looseObject(shape);
  return z.prefault(loose, {} as never);
}

/** An entry of a map such as `providers.<id>`: like a section, but it has no defaults. */
export function entry<const S extends z.core.$ZodShape>(shape: S): z.ZodMiniObject<S> {
  return z.looseObject(shape);
}

export function isIn(low: number, high: number): z.core.$ZodCheck<number>[] {
  return [z.minimum(low), z.maximum(high)];
}

const anyMap = z.record(z.string(), z.unknown());

/** Makers of the leaves of one category. `expects` and a check belong together. */
export function inCategory(category: Category) {
  function put<T extends z.core.$ZodType>(schema: T, description: string, extra: Extra = {}): T {
    leafRegistry.add(schema, { description, category, ...extra });
    return schema;
  }
  return {
    flag: (value: boolean, description: string, extra?: Extra) =>
      put(withDefault(z.boolean(), value), description, extra),

    text: (value: string, description: string, extra?: Extra) =>
      put(withDefault(z.string(), value), description, extra),

    /** A text that is checked; "" (unset) always passes. */
    checkedText: (
      value: string,
      description: string,
      extra: Extra & { readonly expects: string; readonly accepts: (text: string) => boolean },
    ) => {
      const { accepts, ...meta } = extra;
      const checked = z.string().check(z.refine((text) => text === "" || accepts(text)));
      return put(withDefault(checked, value), description, meta);
    },

    int: (
      value: number,
      [low, high]: readonly [number, number],
      description: string,
      extra?: Extra,
    ) => put(withDefault(z.int().check(...isIn(low, high)), value), description, extra),

    number: (
      value: number,
      [low, high]: readonly [number, number],
      description: string,
      extra?: Extra,
    ) => put(withDefault(z.number().check(...isIn(low, high)), value), description, extra),

    /** null: not set, so that another rule decides. */
    maybeInt: ([low, high]: readonly [number, number], description: string, extra?: Extra) =>
      put(
        withDefault(z.nullable(z.int().check(...isIn(low, high))), null as number | null),
        description,
        extra,
      ),

    choice: <const W extends readonly [string, ...string[]]>(
      words: W,
      value: W[number],
      description: string,
      extra?: Extra,
    ) => put(withDefault(z.enum(words), value as never), description, extra),

    /** `auto`, or an explicit switch that beats what `auto` would say (field-rules A09). */
    autoFlag: (description: string, extra?: Extra) =>
      put(withDefault(z.union([z.literal("auto"), z.boolean()]), "auto"), description, {
        ...extra,
        options: ["auto", "true", "false"],
      }),

    list: (value: readonly string[], description: string, extra?: Extra) =>
      put(withDefault(z.array(z.string()), [...value]), description, extra),

    /** A list of texts that are checked one by one. */
    checkedList: (
      description: string,
      extra: Extra & { readonly expects: string; readonly accepts: (text: string) => boolean },
    ) => {
      const { accepts, ...meta } = extra;
      const item = z.string().check(z.refine(accepts));
      return put(withDefault(z.array(item), [] as string[]), description, meta);
    },

    /** As `checkedList`; null: not set, so that another rule decides. */
    maybeList: (
      description: string,
      extra: Extra & { readonly expects: string; readonly accepts: (text: string) => boolean },
    ) => {
      const { accepts, ...meta } = extra;
      const item = z.string().check(z.refine(accepts));
      return put(
        withDefault(z.nullable(z.array(item)), null as string[] | null),
        description,
        meta,
      );
    },

    listOf: <T extends z.core.$ZodType>(item: T, description: string, extra?: Extra) =>
      put(withDefault(z.array(item), [] as never), description, extra),

    mapOf: <T extends z.core.$ZodType>(value: T, description: string, extra?: Extra) =>
      put(withDefault(z.record(z.string(), value), {}), description, extra),

    /** A mapping that is handed on as it is. */
    anyMap: (description: string, extra?: Extra) =>
      put(withDefault(anyMap, {}), description, extra),

    /** A leaf of a map entry: absent when it is not given. */
    optional: <T extends z.core.$ZodType>(schema: T, description: string, extra?: Extra) =>
      put(z.optional(schema), description, extra),
  };
}
