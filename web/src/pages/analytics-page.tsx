// Tokens and money over 7, 30 or 90 days: cards, a daily chart, the same as a table.
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import type { UsageBody } from "#protocol/http-sessions.ts";
import { usageQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Page } from "../parts/page.tsx";
import type { DailyChartProps } from "../parts/daily-chart.tsx";
import { Empty, QueryView } from "../parts/states.tsx";

const PERIODS = [7, 30, 90];

function Total({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="card grid gap-1 p-4">
      <dt className="text-sm text-muted-foreground">{name}</dt>
      <dd className="text-2xl font-bold tabular-nums">{value}</dd>
    </div>
  );
}

function Totals({ totals }: { readonly totals: UsageBody["totals"] }) {
  const { t, format } = useWords();
  const cost = totals.total_estimated_cost;
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      <Total name={t.analytics.input} value={format.compact(totals.total_input)} />
      <Total name={t.analytics.output} value={format.compact(totals.total_output)} />
      <Total name={t.analytics.cached} value={format.compact(totals.total_cache_read)} />
      <Total name={t.analytics.cost} value={cost === null ? "–" : format.money(cost)} />
      <Total name={t.analytics.sessions} value={format.number(totals.total_sessions)} />
      <Total name={t.analytics.calls} value={format.number(totals.total_api_calls)} />
    </dl>
  );
}

/** A chunk of its own, which comes with the first figures. */
const DailyChart = lazy(async () => ({
  default: (await import("../parts/daily-chart.tsx")).DailyChart,
}));

function Chart({ daily }: { readonly daily: UsageBody["daily"] }) {
  const { t, format } = useWords();
  const props = useMemo<DailyChartProps>(
    () => ({
      days: daily.map((day) => ({
        at: Date.parse(`${day.day}T00:00:00Z`) / 1000,
        input: day.input_tokens,
        output: day.output_tokens,
      })),
      names: { day: t.analytics.day, input: t.analytics.input, output: t.analytics.output },
      day: (at) => format.day(new Date(at * 1000).toISOString()),
      amount: format.compact,
    }),
    [daily, t, format],
  );
  return (
    <Suspense fallback={<div className="card h-64" aria-hidden="true" />}>
      <DailyChart {...props} />
    </Suspense>
  );
}

function DailyTable({ daily }: { readonly daily: UsageBody["daily"] }) {
  const { t, format } = useWords();
  const head = [
    t.analytics.day,
    t.analytics.input,
    t.analytics.output,
    t.analytics.reasoning,
    t.analytics.cost,
    t.analytics.calls,
  ];
  return (
    <details>
      <summary className="min-h-6 cursor-pointer">{t.analytics.table}</summary>
      <div
        className="overflow-x-auto pt-2"
        tabIndex={0}
        role="region"
        aria-label={t.analytics.daily}
      >
        <table className="w-full text-sm tabular-nums">
          <thead>
            <tr className="text-muted-foreground">
              {head.map((name) => (
                <th key={name} scope="col" className="p-1.5 text-start">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y">
            {daily.map((day) => (
              <tr key={day.day}>
                <th scope="row" className="p-1.5 text-start font-normal">
                  {format.day(day.day)}
                </th>
                <td className="p-1.5">{format.number(day.input_tokens)}</td>
                <td className="p-1.5">{format.number(day.output_tokens)}</td>
                <td className="p-1.5">{format.number(day.reasoning_tokens)}</td>
                <td className="p-1.5">
                  {day.estimated_cost === null ? "–" : format.money(day.estimated_cost)}
                </td>
                <td className="p-1.5">{format.number(day.api_calls)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

export function AnalyticsPage() {
  const { t } = useWords();
  const [days, setDays] = useState(30);
  const usage = useQuery(usageQuery(days));
  return (
    <Page
      title={t.analytics.title}
      wide
      actions={
        <div role="group" aria-label={t.analytics.period} className="flex gap-1">
          {PERIODS.map((period) => (
            <button
              key={period}
              type="button"
              aria-pressed={period === days}
              className={`button ${period === days ? "button-primary" : "button-plain"}`}
              onClick={() => setDays(period)}
            >
              {t.analytics.days(period)}
            </button>
          ))}
        </div>
      }
    >
      <QueryView
        query={usage}
        isEmpty={(data) => data.totals.total_api_calls === 0}
        empty={<Empty icon="analytics" title={t.analytics.empty} />}
      >
        {(data) => (
          <>
            <Totals totals={data.totals} />
            <h2 className="font-semibold">{t.analytics.daily}</h2>
            <Chart daily={data.daily} />
            <DailyTable daily={data.daily} />
          </>
        )}
      </QueryView>
    </Page>
  );
}
