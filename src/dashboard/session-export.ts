// One conversation as a download: JSON lines for import, Markdown for reading. Redacted either way.
import type { Redactor, SessionArchive } from "#session/archive.ts";
import type { SessionRow, StoredMessage } from "#protocol/messages.ts";
import { isoTime } from "./route-services.ts";

const PAGE = 500;

export async function* exportJsonLines(
  archive: SessionArchive,
  redactor: Redactor,
  id: string,
): AsyncGenerator<string> {
  for await (const line of archive.exportLines([id])) {
    // Parsed first: redacting the text itself could break its quoting.
    yield `${JSON.stringify(redactor.value(JSON.parse(line) as unknown))}\n`;
  }
}

export async function* exportMarkdown(
  archive: SessionArchive,
  redactor: Redactor,
  row: SessionRow,
): AsyncGenerator<string> {
  const model = row.model === null ? "" : `, ${row.model}`;
  yield redactor.text(
    `# ${row.title ?? row.id}\n\n${isoTime(row.startedAt)}, ${row.source}${model}\n`,
  );
  for await (const message of allMessages(archive, row.id)) {
    const text = messageMarkdown(message);
    if (text !== "") yield redactor.text(`\n${text}\n`);
  }
}

export async function* allMessages(
  archive: SessionArchive,
  id: string,
): AsyncGenerator<StoredMessage> {
  for (let after = 0; ;) {
    const page = await archive.readMessages(id, { limit: PAGE, after, order: "asc" });
    yield* page.messages;
    const last = page.messages.at(-1);
    if (!last || page.messages.length < PAGE) return;
    after = last.id;
  }
}

function messageMarkdown(message: StoredMessage): string {
  const content = message.content ?? "";
  switch (message.role) {
    case "user":
      return `## You\n\n${content}`;
    case "assistant":
      return `## Hermes\n\n${[content, ...callLines(message)].filter(Boolean).join("\n\n")}`;
    case "tool":
      return `### Result of ${message.toolName ?? "a tool"}\n\n${fence(content)}`;
    case "system":
      return "";
    default:
      return message.role satisfies never;
  }
}

function callLines({ toolCalls }: StoredMessage): string[] {
  return (toolCalls ?? []).map((call) => `Called \`${call.name}\`:\n\n${fence(call.arguments)}`);
}

/** Longer than any run of backticks inside. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}

/** Pulled as the client reads. */
export function downloadOf(
  chunks: AsyncGenerator<string>,
  fileName: string,
  contentType: string,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
  return new Response(body, {
    headers: {
      "Content-Type": contentType,
      "Content-Disposition": `attachment; filename="${fileName}"`,
    },
  });
}
