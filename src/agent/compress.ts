// Compression of a conversation into a child session (agent.md §4.7).
import type { TurnDeps } from "./ports/turn.ts";

export interface CompressOptions {
  /** What the summary should keep above all (`/compress FOCUS`). */
  readonly focus?: string;
  readonly signal: AbortSignal;
}

/** For `/compress`, between turns. Never throws for a summary that failed: `ok: false` and everything is as it was. */
export async function compressSession(
  _sessionId: string,
  _deps: TurnDeps,
  _options: CompressOptions,
): Promise<{ readonly ok: boolean; readonly sessionId: string }> {
  throw new Error("being built");
}
