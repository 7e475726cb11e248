// What a run used: the last line of stream-json and the usage file (agent.md §4.2).
import { writeFileAtomic } from "#base/atomic-file.ts";
import type { TurnOutcome } from "#protocol/events.ts";
import { NO_USAGE, type Usage } from "#protocol/messages.ts";
import type { TurnResult } from "#session/types.ts";

export interface RunFailure {
  readonly code: string;
  /** One line, without secrets. */
  readonly message: string;
}

export interface UsageReport {
  readonly type: "result";
  readonly outcome: TurnOutcome;
  readonly session_id: string | null;
  readonly usage: Usage;
  /** US dollars; null when no price is known. */
  readonly cost_usd: number | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly api_calls: number;
  readonly error?: RunFailure;
}

export function reportOf(result: TurnResult, failure: RunFailure | null): UsageReport {
  return {
    type: "result",
    outcome: result.outcome,
    session_id: result.sessionId === "" ? null : result.sessionId,
    usage: result.usage,
    cost_usd: result.costUsd,
    model: result.model,
    provider: result.provider,
    api_calls: result.apiCalls,
    ...(failure === null ? {} : { error: failure }),
  };
}

/** Of a run that ended before its turn began. */
export function reportOfRefusal(failure: RunFailure): UsageReport {
  return {
    type: "result",
    outcome: "failed",
    session_id: null,
    usage: NO_USAGE,
    cost_usd: null,
    model: null,
    provider: null,
    api_calls: 0,
    error: failure,
  };
}

/** Also after a failed turn. Throws the system's error. */
export function writeUsageFile(path: string, report: UsageReport): void {
  writeFileAtomic(path, `${JSON.stringify(report)}\n`, { mode: 0o600 });
}
