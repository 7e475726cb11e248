// session_search: what was said in earlier sessions (agent.md §5.1). No model call.
import * as z from "zod/mini";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool } from "#agent/ports/tool.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { SearchHit, SessionRow, StoredMessage } from "#protocol/messages.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";

const AROUND_HIT = 5;
const WINDOW = 20;
const RECENT = 10;
const MAX_MESSAGE_CHARS = 1200;

const INPUT = z.object({
  query: z.optional(
    z.string().check(z.maxLength(500), z.describe('Words, "phrases", OR, NOT, word*.')),
  ),
  session_id: z.optional(
    z.string().check(z.describe("Its first and last messages, or those around a message.")),
  ),
  around_message_id: z.optional(
    z.int().check(z.minimum(1), z.describe("With session_id: the messages around this one.")),
  ),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(20), z.describe("How many hits (5)."))),
});
type Input = z.output<typeof INPUT>;

export function createSessionSearch(deps: ToolBoxDeps): Tool {
  return defineTool({
    name: "session_search",
    toolset: "session",
    description:
      "Search earlier sessions, read one of them, or list the recent ones (no arguments).",
    input: INPUT,
    run: (input) => run(deps.store, input),
  });
}

async function run(store: SessionStore, input: Input): Promise<ToolOutput> {
  if (input.session_id !== undefined)
    return readSession(store, input.session_id, input.around_message_id);
  const query = input.query?.trim() ?? "";
  if (query === "")
    return { sessions: (await store.recentHits(input.limit ?? RECENT)).map(describeHit) };
  const result = await store.search(query, { limit: input.limit ?? 5 });
  const hits = [];
  for (const hit of result.hits) {
    const messages = await store.neighbours(hit.messageId, AROUND_HIT);
    hits.push({ ...describeHit(hit), messages: messages.map(describeMessage) });
  }
  return { hits, ...(result.partial ? { partial: true } : {}) };
}

async function readSession(
  store: SessionStore,
  ref: string,
  anchor: number | undefined,
): Promise<ToolOutput> {
  const session = await sessionOf(store, ref);
  if (anchor === undefined)
    return { session: describeSession(session), ...(await bothEnds(store, session.id)) };
  const near = await store.neighbours(anchor, WINDOW / 2);
  const messages = near.filter((message) => message.sessionId === session.id);
  if (messages.length === 0) {
    throw new ToolError("NOT_FOUND", `session ${session.id} has no message ${anchor}`);
  }
  return { session: describeSession(session), messages: messages.map(describeMessage) };
}

async function sessionOf(store: SessionStore, ref: string): Promise<SessionRow> {
  const resolution = await store.resolveSession(ref);
  switch (resolution.found) {
    case "one":
      return resolution.session;
    case "many":
      throw new ToolError("AMBIGUOUS", `several sessions begin with ${ref}`, {
        candidates: resolution.candidates.slice(0, 10).map((session) => session.id),
      });
    case "none":
      throw new ToolError("NOT_FOUND", `there is no session ${ref}`);
    default:
      return resolution satisfies never;
  }
}

async function bothEnds(store: SessionStore, sessionId: string): Promise<ToolOutput> {
  const first = await store.readMessages(sessionId, { limit: WINDOW, order: "asc" });
  if (first.total <= WINDOW)
    return { messages: first.messages.map(describeMessage), total: first.total };
  const seen = new Set(first.messages.map((message) => message.id));
  const last = await store.readMessages(sessionId, { limit: WINDOW, order: "desc" });
  const rest = last.messages.filter((message) => !seen.has(message.id)).reverse();
  return {
    first: first.messages.map(describeMessage),
    last: rest.map(describeMessage),
    total: first.total,
  };
}

function describeHit(hit: SearchHit): ToolOutput {
  return {
    session_id: hit.sessionId,
    title: hit.title,
    source: hit.source,
    started_at: new Date(hit.startedAt * 1000).toISOString(),
    role: hit.role,
    message_id: hit.messageId,
    snippet: hit.snippet,
  };
}

function describeSession(session: SessionRow): ToolOutput {
  return {
    session_id: session.id,
    title: session.title,
    source: session.source,
    started_at: new Date(session.startedAt * 1000).toISOString(),
    messages: session.messageCount,
  };
}

function describeMessage(message: StoredMessage): ToolOutput {
  const text = message.content ?? "";
  return {
    id: message.id,
    role: message.role,
    ...(message.toolName === null ? {} : { tool: message.toolName }),
    text: text.length > MAX_MESSAGE_CHARS ? `${cutStart(text, MAX_MESSAGE_CHARS)}…` : text,
  };
}
