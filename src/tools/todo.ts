// todo: the plan of a session, one list (agent.md §5.1). It is read back from the session's own rows after a resume.
import * as z from "zod/mini";
import { ToolError, type Tool } from "#agent/ports/tool.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";

const MAX_TODOS = 50;

const INPUT = z.object({
  todos: z.optional(
    z
      .array(
        z.object({
          id: z.optional(z.string().check(z.maxLength(64))),
          content: z.string().check(z.minLength(1), z.maxLength(1000)),
          status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
        }),
      )
      .check(z.maxLength(MAX_TODOS), z.describe("Without it the list is only shown.")),
  ),
  merge: z.optional(
    z
      .boolean()
      .check(z.describe("Change entries by id and add new ones, instead of replacing the list.")),
  ),
});
type Input = z.output<typeof INPUT>;

interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed" | "cancelled";
}

export function createTodo(deps: ToolBoxDeps): Tool {
  let list: readonly Todo[] | null = null;
  return defineTool({
    name: "todo",
    toolset: "todo",
    description:
      "Write down and update the steps of a longer task. Call it without todos to see the list.",
    input: INPUT,
    exclusive: true,
    async run(input, context): Promise<ToolOutput> {
      list ??= await storedList(deps, context.sessionId);
      if (input.todos) list = updated(list, input.todos, input.merge === true);
      return { todos: list };
    },
  });
}

function updated(
  old: readonly Todo[],
  changes: NonNullable<Input["todos"]>,
  merge: boolean,
): readonly Todo[] {
  const list = new Map(merge ? old.map((todo) => [todo.id, todo]) : []);
  let next = 1;
  for (const change of changes) {
    while (list.has(String(next))) next++;
    const id = change.id ?? String(next);
    list.set(id, { id, content: change.content, status: change.status });
  }
  if (list.size > MAX_TODOS) {
    throw new ToolError(
      "TOO_MANY_TODOS",
      `${list.size} entries are more than ${MAX_TODOS}; drop finished ones`,
    );
  }
  return [...list.values()];
}

const LOOK_BACK = 500;
const MAX_SESSIONS = 3;

/** The last list that this session, or one that it was compressed from, was given. */
async function storedList(deps: ToolBoxDeps, sessionId: string): Promise<readonly Todo[]> {
  let id: string | null = sessionId;
  for (let step = 0; id !== null && step < MAX_SESSIONS; step++) {
    const session = await deps.store.getSession(id);
    if (!session) return [];
    const page = await deps.store.readMessages(id, { limit: LOOK_BACK, order: "desc" });
    for (const message of page.messages) {
      const list =
        message.active && message.toolName === "todo" ? parseList(message.content) : null;
      if (list) return list;
    }
    id = session.parentSessionId;
  }
  return [];
}

const STORED = z.object({
  todos: z.array(
    z.object({
      id: z.string(),
      content: z.string(),
      status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
    }),
  ),
});

function parseList(content: string | null): readonly Todo[] | null {
  try {
    const result = z.safeParse(STORED, JSON.parse(content ?? ""));
    return result.success ? result.data.todos : null;
  } catch {
    return null;
  }
}
