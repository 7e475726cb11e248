// What was spent: per call into the session and into `model_usage` by UTC day (agent.md §6.2).
import type { DailyUsage, ModelUsage, SessionStore } from "#agent/ports/session-store.ts";
import type { Usage } from "#protocol/messages.ts";
import type { StoreContext } from "./context.ts";
import { needSession } from "./sessions.ts";
import type { Sql } from "./sqlite.ts";

type UsageEntry = Parameters<SessionStore["addUsage"]>[0];

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function addUsage(sql: Sql, entry: UsageEntry): void {
  needSession(sql, entry.sessionId);
  const { input, output, cacheRead, cacheWrite, reasoning } = entry.usage;
  const tokens = [input, output, cacheRead, cacheWrite, reasoning];
  sql.run(
    `INSERT INTO model_usage(session_id, day, provider, model, input_tokens, output_tokens, cache_read_tokens,
        cache_write_tokens, reasoning_tokens, calls, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
      ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
        cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
        reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens, calls = calls + 1,
        cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN cost_usd
          ELSE coalesce(cost_usd, 0) + excluded.cost_usd END`,
    entry.sessionId,
    dayOf(entry.at),
    entry.provider,
    entry.model,
    ...tokens,
    entry.costUsd,
  );
  sql.run(
    `UPDATE sessions SET input_tokens = coalesce(input_tokens, 0) + ?, output_tokens = coalesce(output_tokens, 0) + ?,
        cache_read_tokens = coalesce(cache_read_tokens, 0) + ?,
        cache_write_tokens = coalesce(cache_write_tokens, 0) + ?,
        reasoning_tokens = coalesce(reasoning_tokens, 0) + ?, api_call_count = coalesce(api_call_count, 0) + 1,
        billing_provider = ?, estimated_cost_usd = CASE WHEN ?7 IS NULL THEN estimated_cost_usd
          ELSE coalesce(estimated_cost_usd, 0) + ?7 END WHERE id = ?8`,
    ...tokens,
    entry.provider,
    entry.costUsd,
    entry.sessionId,
  );
}

interface Sums {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly reasoning: number;
  readonly calls: number;
  readonly sessions: number;
  readonly cost: number | null;
}

const SUMS = `sum(u.input_tokens) AS input, sum(u.output_tokens) AS output, sum(u.cache_read_tokens) AS cache_read,
  sum(u.cache_write_tokens) AS cache_write, sum(u.reasoning_tokens) AS reasoning, sum(u.calls) AS calls,
  count(DISTINCT u.session_id) AS sessions, sum(u.cost_usd) AS cost`;

function usageOf(row: Sums): Usage {
  return {
    input: row.input,
    output: row.output,
    cacheRead: row.cache_read,
    cacheWrite: row.cache_write,
    reasoning: row.reasoning,
  };
}

function byDay(sql: Sql, since: number): readonly DailyUsage[] {
  return sql
    .all<Sums & { day: string }>(
      `SELECT day, ${SUMS} FROM model_usage u WHERE day >= ? GROUP BY day ORDER BY day`,
      dayOf(since),
    )
    .map((row) => ({
      day: row.day,
      usage: usageOf(row),
      calls: row.calls,
      sessions: row.sessions,
      costUsd: row.cost,
    }));
}

interface ModelSums extends Sums {
  readonly provider: string;
  readonly model: string;
  readonly tool_calls: number | null;
  readonly last_day: string;
  readonly last_active: number | null;
}

/** Tool calls are those of the sessions in which the model was used: calls are not counted by model. */
function byModel(sql: Sql, since: number): readonly ModelUsage[] {
  return sql
    .all<ModelSums>(
      `SELECT u.provider, u.model, ${SUMS}, max(u.day) AS last_day, max(s.last_active_at) AS last_active,
          (SELECT sum(tool_call_count) FROM sessions WHERE id IN (SELECT session_id FROM model_usage v
            WHERE v.provider = u.provider AND v.model = u.model AND v.day >= ?1)) AS tool_calls
        FROM model_usage u LEFT JOIN sessions s ON s.id = u.session_id WHERE u.day >= ?1
        GROUP BY u.provider, u.model ORDER BY input + output DESC, u.provider, u.model`,
      dayOf(since),
    )
    .map((row) => ({
      provider: row.provider,
      model: row.model,
      usage: usageOf(row),
      calls: row.calls,
      sessions: row.sessions,
      toolCalls: row.tool_calls ?? 0,
      costUsd: row.cost,
      lastUsedAt: lastUsed(row),
    }));
}

/** The day is exact, the moment within it is the session's last activity where that lies on the same day. */
function lastUsed(row: ModelSums): number {
  const dayStart = Date.parse(`${row.last_day}T00:00:00Z`) / 1000;
  return Math.min(Math.max(dayStart, row.last_active ?? dayStart), dayStart + 86_399);
}

type UsageMethods = Pick<SessionStore, "addUsage" | "usageByDay" | "usageByModel">;

export function usageMethods({ read, write }: StoreContext): UsageMethods {
  return {
    addUsage: (entry) => write((sql) => addUsage(sql, entry)),
    usageByDay: (since) => read((sql) => byDay(sql, since)),
    usageByModel: (since) => read((sql) => byModel(sql, since)),
  };
}
