// What a form needs to know about each setting: body of `/api/config/schema` (dashboard.md §11.5).
import { CATEGORY_ORDER, type Category } from "./leaf.ts";
import { leavesOf, type LeafAt } from "./shape.ts";

export type FormType = "boolean" | "number" | "list" | "object" | "string" | "select";

export interface FormField {
  readonly type: FormType;
  readonly description: string;
  readonly category: Category;
  /** Only with `select`. */
  readonly options?: readonly string[];
}

export interface FormSchema {
  /** By dotted path, in the order of the tree. */
  readonly fields: Readonly<Record<string, FormField>>;
  readonly category_order: readonly Category[];
}

/**
 * Every leaf but hidden ones. `/api/config` shows `model` as one name with `model_context_length` beside it, so these
 * two stand for the section `model`; its other keys are set with the model itself (`/api/model/set`).
 */
export function configFormSchema(): FormSchema {
  const fields: Record<string, FormField> = {};
  for (const leaf of leavesOf()) {
    const key = leaf.path.join(".");
    if (leaf.node.meta.hidden) continue;
    if (key === "model.default") {
      fields["model"] = fieldOf(leaf);
      fields["model_context_length"] = MODEL_CONTEXT_LENGTH;
    } else if (leaf.path[0] !== "model") {
      fields[key] = fieldOf(leaf);
    }
  }
  return { fields, category_order: CATEGORY_ORDER };
}

const MODEL_CONTEXT_LENGTH: FormField = {
  type: "number",
  description: "Context window of the model in tokens; 0 = find out",
  category: "general",
};

function fieldOf({ node }: LeafAt): FormField {
  const { description, category } = node.meta;
  const type = formType(node);
  if (type !== "select" || node.kind !== "leaf") return { type, description, category };
  return { type, description, category, options: node.options };
}

function formType(node: LeafAt["node"]): FormType {
  if (node.kind === "map") return "object";
  switch (node.type) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "text":
      return "string";
    case "list":
      return "list";
    case "object":
      return "object";
    case "choice":
    case "auto-flag":
      return "select";
  }
}
