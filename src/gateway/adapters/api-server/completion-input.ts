// What a client may send to /v1/chat/completions, and what becomes of it (agent.md §7.9).
import * as z from "zod/mini";
import { invalid } from "./errors.ts";

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const content = z.union([z.string(), z.array(textPart)]);
const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: z.optional(z.nullable(content)),
});
const schema = z.looseObject({
  model: z.string(),
  messages: z.array(message).check(z.minLength(1)),
  stream: z.optional(z.nullable(z.boolean())),
  stream_options: z.optional(
    z.nullable(z.looseObject({ include_usage: z.optional(z.nullable(z.boolean())) })),
  ),
  n: z.optional(z.nullable(z.number())),
});

/** Known and used, or refused; every other field is ignored and named. */
const USED = new Set(["model", "messages", "stream", "stream_options", "n"]);
/** The agent has its own tools: a client that counts on calls to its own would wait for ever. */
const REFUSED = ["tools", "functions", "tool_choice", "function_call"];

export interface CompletionInput {
  readonly model: string;
  /** System text of the client, or null. */
  readonly instructions: string | null;
  readonly history: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  /** The last message, which is the user's. */
  readonly text: string;
  readonly isStream: boolean;
  readonly withUsage: boolean;
  readonly ignored: readonly string[];
}

/** Throws ApiFailure 400 naming the field. */
export function parseCompletion(body: unknown): CompletionInput {
  refuseUnsupported(body);
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(
      issue?.path.join(".") ?? "",
      `${issue?.path.join(".") || "body"}: ${issue?.message}`,
    );
  }
  const { model, messages, stream, stream_options: options } = parsed.data;
  const said = messages.map((entry) => ({ role: entry.role, content: textOf(entry.content) }));
  const last = said.at(-1);
  if (last?.role !== "user") throw invalid("messages", "messages: the last one must be the user's");
  if (last.content.trim() === "") throw invalid("messages", "messages: the last one is empty");
  const system = said.filter(({ role }) => isSystem(role)).map((entry) => entry.content);
  return {
    model,
    instructions: system.length === 0 ? null : system.join("\n\n"),
    history: said
      .slice(0, -1)
      .flatMap(({ role, content: text }) =>
        (role === "user" || role === "assistant") && text !== "" ? [{ role, content: text }] : [],
      ),
    text: last.content,
    isStream: stream ?? false,
    withUsage: options?.include_usage ?? false,
    ignored: Object.keys(parsed.data).filter((name) => !USED.has(name) && !REFUSED.includes(name)),
  };
}

function refuseUnsupported(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw invalid("", "The body must be one JSON object");
  const fields = body as Readonly<Record<string, unknown>>;
  for (const name of REFUSED) {
    const value = fields[name];
    const isAbsent =
      value === undefined ||
      value === null ||
      value === "none" ||
      (Array.isArray(value) && value.length === 0);
    if (!isAbsent) throw invalid(name, `${name}: not supported; the agent uses its own tools`);
  }
  if (typeof fields["n"] === "number" && fields["n"] !== 1)
    throw invalid("n", "n: only one choice is made");
}

function isSystem(role: string): boolean {
  return role === "system" || role === "developer";
}

function textOf(value: z.infer<typeof message>["content"]): string {
  if (typeof value === "string") return value;
  return value?.map((part) => part.text).join("\n") ?? "";
}
