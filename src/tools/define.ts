// One way to write a tool: its input as a zod/mini schema, from which the JSON Schema on the wire is made.
import * as z from "zod/mini";
import type { JsonSchema } from "#agent/ports/model-client.ts";
import {
  HARMLESS,
  type Assessment,
  type Parsed,
  type Tool,
  type ToolContext,
} from "#agent/ports/tool.ts";

export type ToolOutput = Readonly<Record<string, unknown>>;

export interface AssessContext {
  readonly cwd: string;
  readonly sessionId: string;
}

export interface ToolDefinition<S extends z.ZodMiniType> {
  readonly name: string;
  readonly toolset: string;
  readonly description: string;
  readonly input: S;
  readonly exclusive?: boolean;
  readonly untrusted?: boolean;
  unavailable?(): string | null;
  assess?(
    input: z.output<S>,
    context: AssessContext,
  ): Partial<Assessment> | Promise<Partial<Assessment>>;
  run(input: z.output<S>, context: ToolContext): Promise<ToolOutput>;
}

/** Builds the port's Tool. What `assess` leaves out is harmless. */
export function defineTool<S extends z.ZodMiniType>(definition: ToolDefinition<S>): Tool {
  return {
    name: definition.name,
    toolset: definition.toolset,
    description: definition.description,
    inputSchema: wireSchema(definition.input),
    exclusive: definition.exclusive ?? false,
    untrusted: definition.untrusted ?? false,
    unavailable: () => definition.unavailable?.() ?? null,
    parse: (input) => parseInput(definition.input, input),
    assess: async (input, context) => ({
      ...HARMLESS,
      ...(await definition.assess?.(input as z.output<S>, context)),
    }),
    run: (input, context) => definition.run(input as z.output<S>, context),
  };
}

/** JSON Schema without the dialect line; the order of keys is the order in which the schema was written. */
function wireSchema(input: z.ZodMiniType): JsonSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: "input" });
  return schema;
}

function parseInput(schema: z.ZodMiniType, input: unknown): Parsed {
  const result = z.safeParse(schema, input);
  if (result.success) return { ok: true, value: result.data };
  const issues = result.error.issues
    .slice(0, 10)
    .map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`);
  return { ok: false, issues: issues.join("; ") };
}
