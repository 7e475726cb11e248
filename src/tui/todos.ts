// The todo list as a call of the `todo` tool leaves it (agent.md §5.1).
import { oneLine } from "./shown-text.ts";
import type { Todo } from "./view.ts";

const MOST = 50;

/** `input` is what the model sent, valid or not; what is no list changes nothing. */
export function todosAfter(before: readonly Todo[], input: unknown): readonly Todo[] {
  if (typeof input !== "object" || input === null || !("todos" in input)) return before;
  if (!Array.isArray(input.todos)) return before;
  const list: readonly unknown[] = input.todos;
  const given = list.slice(0, MOST).flatMap(todoOf);
  if (!("merge" in input && input.merge === true)) return given;
  const kept = before.map((todo) => given.find((entry) => entry.id === todo.id) ?? todo);
  return [...kept, ...given.filter((entry) => !before.some((todo) => todo.id === entry.id))];
}

function todoOf(value: unknown, index: number): readonly Todo[] {
  if (typeof value !== "object" || value === null || !("content" in value)) return [];
  if (typeof value.content !== "string") return [];
  const id = "id" in value && typeof value.id === "string" ? value.id : String(index + 1);
  const status = "status" in value && typeof value.status === "string" ? value.status : "pending";
  return [{ id, content: oneLine(value.content, 200), status }];
}
