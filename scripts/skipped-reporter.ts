// A reporter for node's test runner that lists skipped tests with their reason.
import type { TestEvent } from "node:test/reporters";

export default async function* skippedReporter(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== "test:pass" || event.data.skip === undefined) continue;
    const reason = typeof event.data.skip === "string" ? event.data.skip : "no reason given";
    yield `  ${event.data.name}: ${reason}\n`;
  }
}
