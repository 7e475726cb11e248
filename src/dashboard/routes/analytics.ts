// Usage by day and by model (dashboard.md §11.3). Skills come with their issue: their figures are zero until then.
import { epochSeconds } from "#base/clock.ts";
import type { DailyUsage, ModelUsage } from "#session/archive.ts";
import { intParam } from "../query.ts";
import { json, type Registrars, type RouteContext } from "../routing.ts";
import { isoTime, profileOf, type RouteServices } from "../route-services.ts";

const DAY_SECONDS = 86_400;

export function registerAnalytics(routes: Registrars, services: RouteServices): void {
  const period = ({ query }: Pick<RouteContext, "query">) => {
    const days = intParam(query, "days", { fallback: 30, least: 1, most: 3650 });
    return { days, since: epochSeconds(services.deps.clock) - days * DAY_SECONDS };
  };

  routes.session("GET /api/analytics/usage", {
    async handler(context) {
      const { archive } = await profileOf(services, context);
      const { days, since } = period(context);
      const daily = await archive.usageByDay(since);
      const models = await archive.usageByModel(since);
      return json({
        daily: daily.map(dailyBody),
        by_model: models.map(byModelBody),
        totals: totalsOf(daily),
        period_days: days,
        skills: NO_SKILLS,
      });
    },
  });

  routes.session("GET /api/analytics/models", {
    async handler(context) {
      const { archive } = await profileOf(services, context);
      const { days, since } = period(context);
      const models = await archive.usageByModel(since);
      return json({
        models: models.map(modelBody),
        totals: {
          distinct_models: models.length,
          total_input: sum(models, ({ usage }) => usage.input),
          total_output: sum(models, ({ usage }) => usage.output),
          total_estimated_cost: sumCost(models),
          total_sessions: sum(models, ({ sessions }) => sessions),
          total_api_calls: sum(models, ({ calls }) => calls),
        },
        period_days: days,
      });
    },
  });
}

const NO_SKILLS = {
  summary: {
    total_skill_loads: 0,
    total_skill_edits: 0,
    total_skill_actions: 0,
    distinct_skills_used: 0,
  },
  top_skills: [],
};

function dailyBody({ day, usage, sessions, calls, costUsd }: DailyUsage) {
  return {
    day,
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_tokens: usage.cacheRead,
    reasoning_tokens: usage.reasoning,
    estimated_cost: costUsd,
    actual_cost: null,
    sessions,
    api_calls: calls,
  };
}

function byModelBody({ model, usage, sessions, calls, costUsd }: ModelUsage) {
  return {
    model,
    input_tokens: usage.input,
    output_tokens: usage.output,
    estimated_cost: costUsd,
    sessions,
    api_calls: calls,
  };
}

function modelBody(row: ModelUsage) {
  const tokens = row.usage.input + row.usage.output;
  return {
    ...byModelBody(row),
    provider: row.provider,
    cache_read_tokens: row.usage.cacheRead,
    reasoning_tokens: row.usage.reasoning,
    actual_cost: null,
    tool_calls: row.toolCalls,
    last_used_at: row.lastUsedAt > 0 ? isoTime(row.lastUsedAt) : null,
    avg_tokens_per_session: row.sessions > 0 ? Math.round(tokens / row.sessions) : 0,
    capabilities: {},
  };
}

function totalsOf(daily: readonly DailyUsage[]) {
  return {
    total_input: sum(daily, ({ usage }) => usage.input),
    total_output: sum(daily, ({ usage }) => usage.output),
    total_cache_read: sum(daily, ({ usage }) => usage.cacheRead),
    total_reasoning: sum(daily, ({ usage }) => usage.reasoning),
    total_estimated_cost: sumCost(daily),
    total_actual_cost: null,
    total_sessions: sum(daily, ({ sessions }) => sessions),
    total_api_calls: sum(daily, ({ calls }) => calls),
  };
}

function sum<T>(rows: readonly T[], value: (row: T) => number): number {
  return rows.reduce((total, row) => total + value(row), 0);
}

/** null when no row has a price. */
function sumCost(rows: readonly { readonly costUsd: number | null }[]): number | null {
  const priced = rows.filter(({ costUsd }) => costUsd !== null);
  return priced.length === 0 ? null : sum(priced, ({ costUsd }) => costUsd ?? 0);
}
