// The state of a session as every door shows it.
import type { SessionRow } from "#protocol/messages.ts";
import type { LiveSession } from "./live-session.ts";
import type { SessionState } from "./types.ts";

/** `foreign` is the surface that runs the turn in another process, null when none does. */
export function stateOf(live: LiveSession, row: SessionRow, foreign: string | null): SessionState {
  const { state, turn } = live.viewers.view;
  const pending = turn?.pending ?? [];
  const approvals = pending.filter((entry) => entry.type === "approval");
  const clarify = pending.filter((entry) => entry.type === "clarify");
  const provider = row.modelConfig["provider"];
  const busy = live.running !== null || foreign !== null;
  const waiting = approvals.length + clarify.length > 0;
  return {
    sessionId: live.sessionId,
    status: waiting ? "waiting" : busy ? "running" : "idle",
    state: live.running ? state : "idle",
    holder: live.running?.options.surface ?? foreign,
    turnId: live.running?.turnId ?? null,
    pending: { approvals, clarify },
    lastEventId: live.viewers.lastEventId,
    provider: typeof provider === "string" ? provider : null,
    model: row.model,
    context: { used: live.memory.lastPromptTokens, window: live.contextWindow },
  };
}
