// clarify: a question to the user (agent.md §5.1). Not offered where nobody can answer.
import * as z from "zod/mini";
import type { Tool } from "#agent/ports/tool.ts";
import { defineTool } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";

const INPUT = z.object({
  question: z.string().check(z.minLength(1), z.maxLength(1000)),
  choices: z.optional(
    z
      .array(z.string().check(z.minLength(1), z.maxLength(200)))
      .check(
        z.maxLength(4),
        z.describe("Up to four answers to choose from; the user may also write another."),
      ),
  ),
});

export function createClarify(deps: ToolBoxDeps): Tool {
  return defineTool({
    name: "clarify",
    toolset: "clarify",
    description:
      "Ask the user a question and wait for the answer. Only when you cannot go on without it.",
    input: INPUT,
    exclusive: true,
    unavailable: () => (deps.unattended ? "nobody can answer here" : null),
    async run(input, context) {
      if (context.unattended) return { error: "no answer" };
      const answer = await context.ask({ question: input.question, choices: input.choices ?? [] });
      return answer === null ? { error: "no answer" } : { answer };
    },
  });
}
