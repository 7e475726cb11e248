// A chart of tokens a day: what was read and what was written, one above the other. Drawn on a canvas in the colours of the
// page's theme; the table beside it says the same to whoever cannot see it (dashboard.md §12.3).
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface ChartDay {
  /** Seconds since 1970 of the day's start. */
  readonly at: number;
  readonly input: number;
  readonly output: number;
}

export interface DailyChartProps {
  readonly days: readonly ChartDay[];
  readonly names: { readonly day: string; readonly input: string; readonly output: string };
  readonly day: (at: number) => string;
  readonly amount: (value: number) => string;
}

const HEIGHT_PX = 220;
const DAY_S = 86_400;

export function DailyChart(props: DailyChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    let plot = draw(node, props);
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: node.clientWidth, height: HEIGHT_PX }),
    );
    resized.observe(node);
    // Another theme means other colours.
    const restyled = new MutationObserver(() => {
      plot.destroy();
      plot = draw(node, props);
    });
    restyled.observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["data-theme", "style"],
    });
    return () => {
      restyled.disconnect();
      resized.disconnect();
      plot.destroy();
    };
  }, [props]);
  return (
    <div
      ref={box}
      className="card overflow-hidden p-3"
      data-testid="daily-chart"
      aria-hidden="true"
    />
  );
}

function draw(node: HTMLElement, { days, names, day, amount }: DailyChartProps): UPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--color-${name}`).trim();
  const bars = UPlot.paths.bars?.({ size: [0.7, 48] });
  const axis: UPlot.Axis = {
    stroke: colour("muted-foreground"),
    grid: { stroke: colour("border"), width: 1 },
    ticks: { stroke: colour("border"), width: 1 },
  };
  const series = (label: string, name: string): UPlot.Series => ({
    label,
    fill: colour(name),
    stroke: colour(name),
    width: 0,
    points: { show: false },
    value: (_, value) => (value === null ? "–" : amount(value)),
    ...(bars ? { paths: bars } : {}),
  });
  const at = days.map((entry) => entry.at);
  const written = days.map((entry) => entry.output);
  const both = days.map((entry) => entry.input + entry.output);
  const first = at[0] ?? 0;
  const last = at.at(-1) ?? first;
  const plot = new UPlot(
    {
      width: Math.max(200, node.clientWidth),
      height: HEIGHT_PX,
      scales: {
        x: { time: true, range: [first - DAY_S / 2, last + DAY_S / 2] },
        y: { range: (_, __, most) => [0, Math.max(1, most) * 1.05] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          values: (_, splits) => splits.map((value) => day(value)),
        },
        { ...axis, size: 64, values: (_, splits) => splits.map((value) => amount(value)) },
      ],
      series: [
        { label: names.day, value: (_, value) => (value === null ? "–" : day(value)) },
        // The sum lies behind what was written: what shows of it is what was read.
        {
          ...series(names.input, "input"),
          value: (_, __, ___, index) => (index === null ? "–" : amount(days[index]?.input ?? 0)),
        },
        series(names.output, "primary"),
      ],
      cursor: { drag: { x: false, y: false } },
    },
    [at, both, written],
    node,
  );
  return plot;
}
