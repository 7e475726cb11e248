// Shapes of sessions and messages that every door shares.

export type Role = "user" | "assistant" | "tool" | "system";

/** Sources that lists and searches show only when asked for by name (agent.md §6.5). */
export const HIDDEN_SOURCES: readonly string[] = ["tool", "oneshot", "cron", "api-server"];

/** A call that the model asked for. `arguments` is the JSON text as it came, parsable or not. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Tokens. `input` is the whole prompt, cacheRead and cacheWrite are parts of it; `reasoning` is a part of `output`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  };
}

/**
 * `summary` stands for compressed history, `notice` is shown to people and never sent to a model, `nudge` is a note of
 * ours inside a user text, null is an ordinary message.
 */
export type MessageKind = "summary" | "notice" | "nudge";

/** One row of `messages` (agent.md §6.2). Times are seconds since 1970 with fraction. */
export interface StoredMessage {
  readonly id: number;
  readonly sessionId: string;
  readonly role: Role;
  readonly content: string | null;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly ToolCall[] | null;
  readonly toolName: string | null;
  readonly timestamp: number;
  readonly tokenCount: number | null;
  /** `stop`, `tool-calls`, `length`, `interrupted`, …; null for user and tool rows. */
  readonly finishReason: string | null;
  readonly reasoning: string | null;
  /** Provider's own form (signatures), with the provider that made it; replayed only to that provider. */
  readonly reasoningDetails: unknown;
  readonly active: boolean;
  readonly kind: MessageKind | null;
  readonly turnId: string | null;
  readonly platformMessageId: string | null;
  readonly clientKey: string | null;
}

export type SessionActivity = "idle" | "running" | "interrupted" | "suspended";

/** One row of `sessions` (agent.md §6.2). Times are seconds since 1970 with fraction. */
export interface SessionRow {
  readonly id: string;
  readonly source: string;
  readonly userId: string | null;
  readonly model: string | null;
  /** JSON object: provider, reasoning effort and whatever import brought that we do not know. */
  readonly modelConfig: Readonly<Record<string, unknown>>;
  readonly systemPrompt: string | null;
  readonly toolsHash: string | null;
  readonly parentSessionId: string | null;
  readonly rootId: string;
  readonly sessionKey: string | null;
  readonly cwd: string | null;
  readonly startedAt: number;
  readonly lastActiveAt: number;
  readonly endedAt: number | null;
  readonly endReason: string | null;
  readonly messageCount: number;
  readonly toolCallCount: number;
  readonly apiCallCount: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly title: string | null;
  readonly titleSource: "user" | "model" | "first-line" | null;
  readonly state: SessionActivity;
  readonly hidden: boolean;
  readonly archived: boolean;
  readonly pinned: boolean;
}

/** One search hit per lineage, newest first (agent.md §6.5). `snippet` marks the match with `>>>` and `<<<`. */
export interface SearchHit {
  readonly sessionId: string;
  readonly rootId: string;
  readonly title: string | null;
  readonly source: string;
  readonly model: string | null;
  readonly startedAt: number;
  readonly role: Role;
  readonly messageId: number;
  readonly snippet: string;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** True when not every message could be looked at (index still being built, or a scan of the newest rows only). */
  readonly partial: boolean;
}
