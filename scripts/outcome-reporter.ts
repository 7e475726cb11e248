// A reporter for node's test runner: one JSON line per skipped test (with its reason) and per failed one (with its file).
import type { TestEvent } from "node:test/reporters";

export type Outcome =
  | { readonly kind: "skipped"; readonly name: string; readonly reason: string }
  | { readonly kind: "failed"; readonly name: string; readonly file: string };

export default async function* outcomeReporter(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const event of source) {
    const outcome = outcomeOf(event);
    if (outcome) yield `${JSON.stringify(outcome)}\n`;
  }
}

function outcomeOf(event: TestEvent): Outcome | null {
  if (event.type === "test:fail") {
    return { kind: "failed", name: event.data.name, file: event.data.file ?? "" };
  }
  if (event.type !== "test:pass" || event.data.skip === undefined) return null;
  const reason = typeof event.data.skip === "string" ? event.data.skip : "no reason given";
  return { kind: "skipped", name: event.data.name, reason };
}
