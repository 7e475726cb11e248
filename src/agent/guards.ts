// Guards against a model that goes round in circles (agent.md §4.6). One object per turn.
import { canonicalJson } from "./canonical-json.ts";

/** Warned at the first number, not run any more after the second (only with hard stops). */
const SAME_FAILING_CALL = { warn: 2, stop: 5 };
const SAME_TOOL_FAILING = { warn: 3, stop: 8 };
const SAME_RESULT = { warn: 2, stop: 5 };

/** Differs between two runs that say the same. */
const VOLATILE: ReadonlySet<string> = new Set(["duration_ms", "spill_path", "pid", "process_id"]);

export interface GuardedCall {
  readonly name: string;
  /** Parsed input, or the raw text where it could not be parsed. */
  readonly input: unknown;
}

export interface GuardedResult {
  readonly ok: boolean;
  readonly content: string;
}

interface CallRecord {
  failures: number;
  lastResult: string;
  sameResults: number;
}

export class LoopGuards {
  readonly #settings: { readonly enabled: boolean; readonly hardStop: boolean };
  readonly #calls = new Map<string, CallRecord>();
  /** Failures in a row per tool: one that works again starts anew. */
  readonly #toolFailures = new Map<string, number>();

  constructor(settings: { readonly enabled: boolean; readonly hardStop: boolean }) {
    this.#settings = settings;
  }

  /** Why this call is not run any more, or null. */
  refusal(call: GuardedCall): string | null {
    if (!this.#settings.enabled || !this.#settings.hardStop) return null;
    const record = this.#calls.get(keyOf(call));
    if (record && record.failures >= SAME_FAILING_CALL.stop) {
      return `this same call failed ${record.failures} times in this turn`;
    }
    if (record && record.sameResults >= SAME_RESULT.stop) {
      return `this same call gave the same result ${record.sameResults} times in this turn`;
    }
    const failures = this.#toolFailures.get(call.name) ?? 0;
    return failures >= SAME_TOOL_FAILING.stop
      ? `${call.name} failed ${failures} times in a row in this turn`
      : null;
  }

  /** Counts a result in call order. Returns the warning that goes with it, or null. */
  record(call: GuardedCall, result: GuardedResult): string | null {
    if (!this.#settings.enabled) return null;
    const key = keyOf(call);
    const record = this.#calls.get(key) ?? { failures: 0, lastResult: "", sameResults: 0 };
    const text = comparable(result.content);
    record.sameResults = record.lastResult === text ? record.sameResults + 1 : 1;
    record.lastResult = text;
    record.failures = result.ok ? 0 : record.failures + 1;
    this.#calls.set(key, record);
    const toolFailures = result.ok ? 0 : (this.#toolFailures.get(call.name) ?? 0) + 1;
    this.#toolFailures.set(call.name, toolFailures);
    return warningOf(call.name, record, toolFailures);
  }
}

function warningOf(name: string, record: CallRecord, toolFailures: number): string | null {
  if (record.failures >= SAME_FAILING_CALL.warn) {
    return `This same call has now failed ${record.failures} times. Change the input or try another way.`;
  }
  if (toolFailures >= SAME_TOOL_FAILING.warn) {
    return `${name} has now failed ${toolFailures} times in a row. Look at the cause or try another way.`;
  }
  if (record.sameResults >= SAME_RESULT.warn) {
    return `This same call has now given the same result ${record.sameResults} times. Use what you have or try another way.`;
  }
  return null;
}

function keyOf(call: GuardedCall): string {
  return `${call.name} ${canonicalJson(call.input)}`;
}

function comparable(content: string): string {
  try {
    return canonicalJson(JSON.parse(content), VOLATILE);
  } catch {
    return content;
  }
}
