// A reporter for node's test runner: one JSON line per skipped test (with its reason), per failed one (with its file) and per
// test of the container ring that passed (with its time).
import type { TestEvent } from "node:test/reporters";

type TestPass = Extract<TestEvent, { type: "test:pass" }>["data"];

export type Outcome =
  | { readonly kind: "skipped"; readonly name: string; readonly reason: string }
  | { readonly kind: "failed"; readonly name: string; readonly file: string }
  | { readonly kind: "container"; readonly name: string; readonly ms: number };

const CONTAINER_RING = "/test/docker/";

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
  if (event.type !== "test:pass") return null;
  if (event.data.skip === undefined) return timeOf(event.data);
  const reason = typeof event.data.skip === "string" ? event.data.skip : "no reason given";
  return { kind: "skipped", name: event.data.name, reason };
}

function timeOf({ name, file, details }: TestPass): Outcome | null {
  if (details.type === "suite" || !file?.includes(CONTAINER_RING)) return null;
  return { kind: "container", name, ms: details.duration_ms };
}
