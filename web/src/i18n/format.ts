// Numbers, sizes, times and money in the user's language. All of it is Intl.

export interface Format {
  readonly number: (value: number) => string;
  /** 12.4K */
  readonly compact: (value: number) => string;
  readonly percent: (share: number) => string;
  /** Bytes. */
  readonly size: (bytes: number) => string;
  /** US dollars; four digits below a cent. */
  readonly money: (usd: number) => string;
  readonly dateTime: (iso: string) => string;
  readonly time: (iso: string) => string;
  readonly day: (iso: string) => string;
  /** "3 minutes ago" */
  readonly ago: (iso: string, nowMs: number) => string;
  /** "1.4 sec", "2 min 5 sec", "1 hr 2 min" */
  readonly duration: (ms: number) => string;
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

export function createFormat(language: string): Format {
  const number = new Intl.NumberFormat(language);
  const compact = new Intl.NumberFormat(language, {
    notation: "compact",
    maximumFractionDigits: 1,
  });
  const percent = new Intl.NumberFormat(language, { style: "percent" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const time = new Intl.DateTimeFormat(language, { timeStyle: "short" });
  const day = new Intl.DateTimeFormat(language, { month: "short", day: "numeric" });
  const unit = (name: string, value: number, digits: number) =>
    new Intl.NumberFormat(language, {
      style: "unit",
      unit: name,
      unitDisplay: "short",
      maximumFractionDigits: digits,
    }).format(value);

  function size(bytes: number): string {
    const power = bytes < 1 ? 0 : Math.min(3, Math.floor(Math.log(bytes) / Math.log(1000)));
    return unit(SIZES[power] ?? "byte", bytes / 1000 ** power, power === 0 ? 0 : 1);
  }

  function ago(iso: string, nowMs: number): string {
    const seconds = Math.round((Date.parse(iso) - nowMs) / 1000);
    if (Number.isNaN(seconds)) return "";
    for (const [name, length] of STEPS) {
      if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), name);
    }
    return relative.format(0, "second");
  }

  function duration(ms: number): string {
    if (ms < 1000) return unit("millisecond", Math.round(ms), 0);
    const seconds = ms / 1000;
    if (seconds < 60) return unit("second", seconds, seconds < 10 ? 1 : 0);
    const minutes = Math.floor(seconds / 60);
    if (minutes >= 60) {
      return `${unit("hour", Math.floor(minutes / 60), 0)} ${unit("minute", minutes % 60, 0)}`;
    }
    return `${unit("minute", minutes, 0)} ${unit("second", Math.floor(seconds % 60), 0)}`;
  }

  return {
    number: (value) => number.format(value),
    compact: (value) => compact.format(value),
    percent: (share) => percent.format(share),
    size,
    money: (usd) =>
      new Intl.NumberFormat(language, {
        style: "currency",
        currency: "USD",
        minimumFractionDigits: 2,
        maximumFractionDigits: Math.abs(usd) < 0.01 && usd !== 0 ? 4 : 2,
      }).format(usd),
    dateTime: (iso) => dateTime.format(new Date(iso)),
    time: (iso) => time.format(new Date(iso)),
    day: (iso) => day.format(new Date(iso)),
    ago,
    duration,
  };
}
