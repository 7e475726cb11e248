// When a running turn compresses: before a call that would be too large, or after one that was (agent.md §4.7).
import type { ModelError } from "#protocol/model-errors.ts";
import { compressRows, type CompressReason } from "./compress.ts";
import { triggerTokens } from "./compress-plan.ts";
import type { ModelTarget } from "./ports/model-client.ts";
import { estimateRows, estimateText } from "./token-estimate.ts";
import { settlePrompt } from "./turn-open.ts";
import { countUsage, showState, type Turn } from "./turn.ts";

/** Where a context error names no limit, the conversation is brought under this share of its size. */
const UNNAMED_LIMIT_SHARE = 0.8;
/** Share of the estimate under which a reported size is not believed. */
const LEAST_PLAUSIBLE = 0.25;

/**
 * Tokens of the next request: as reported last, plus an estimate of what came since. Some local servers report only
 * what they had not cached; a number that far below the estimate of everything is not believed.
 */
export function promptTokens(turn: Turn): number {
  const { lastPromptTokens, lastPromptMessages } = turn.deps.memory;
  const estimated = fixedTokens(turn) + estimateRows(turn.rows);
  if (lastPromptTokens === 0 || lastPromptMessages > turn.rows.length) return estimated;
  const reported = lastPromptTokens + estimateRows(turn.rows.slice(lastPromptMessages));
  return reported < estimated * LEAST_PLAUSIBLE ? estimated : reported;
}

/** The window of the turn's model, smaller where an error of this turn named a limit. */
export function windowOf(turn: Turn): number {
  const named = turn.windows.get(windowKey(turn.target)) ?? Number.POSITIVE_INFINITY;
  return Math.min(turn.target.contextWindow, named);
}

/** Before each call. A failure leaves the conversation as it is and the turn goes on. */
export async function compressIfDue(turn: Turn): Promise<void> {
  const { settings, memory, clock } = turn.deps;
  if (!settings.compression.enabled) return;
  const window = windowOf(turn);
  if (promptTokens(turn) < triggerTokens(settings.compression, window)) return;
  if (clock.monotonicMs() < memory.compressRetryAtMs) return;
  await compress(turn, "threshold", window);
}

/** After a context error. True when the conversation got smaller and the call may be made again. */
export async function compressForLimit(turn: Turn, error: ModelError): Promise<boolean> {
  const { contextLimit } = error;
  const limit = contextLimit ?? Math.floor(promptTokens(turn) * UNNAMED_LIMIT_SHARE);
  turn.windows.set(windowKey(turn.target), limit);
  if (contextLimit !== undefined) await turn.deps.rememberWindow(turn.target, contextLimit);
  if (!turn.deps.settings.compression.enabled) return false;
  return compress(turn, "context", windowOf(turn));
}

async function compress(turn: Turn, reason: CompressReason, window: number): Promise<boolean> {
  showState(turn, "compressing");
  const result = await compressRows({
    deps: turn.deps,
    session: turn.session,
    rows: turn.rows,
    target: turn.target,
    window,
    fixedTokens: fixedTokens(turn),
    reason,
    focus: null,
    signal: turn.stop.signal,
    count: async (target, usage) => {
      turn.apiCalls++;
      await countUsage(turn, target, usage);
    },
  });
  if (result.ok) {
    turn.session = result.session;
    turn.rows = result.rows;
    await settlePrompt(turn);
  }
  turn.stop.throwIfStopped();
  return result.ok;
}

function fixedTokens(turn: Turn): number {
  return Math.ceil(estimateText(turn.system) + estimateText(JSON.stringify(turn.tools)));
}

function windowKey(target: ModelTarget): string {
  return `${target.provider}/${target.model}`;
}
