// The end of a log file: filters, severity from the parsed level, following, download.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { saveText } from "../api/download.ts";
import { logsQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "../parts/icons.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, QueryView } from "../parts/states.tsx";
import { readLogLine, type LogLine, type Severity } from "./log-line.ts";

// The browser imports types of the protocol only.
const FILES = ["agent", "errors", "gateway", "gui", "dashboard-auth", "boot"] as const;
const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR"];
const COUNTS = [100, 250, 500];
const TYPING_MS = 300;

const TONE: Readonly<Record<Severity, string>> = {
  debug: "text-muted-foreground",
  info: "text-foreground",
  warning: "text-warning",
  error: "text-destructive",
  none: "text-foreground",
};

function Line({ line }: { readonly line: LogLine }) {
  const { format } = useWords();
  return (
    <li className={`flex gap-3 px-3 py-px ${TONE[line.severity]}`} data-severity={line.severity}>
      {line.at !== null && (
        <time
          dateTime={line.at}
          title={format.dateTime(line.at)}
          className="shrink-0 text-muted-foreground"
        >
          {line.at.slice(11, 19)}
        </time>
      )}
      {line.severity !== "none" && (
        <span className="w-14 shrink-0 font-semibold uppercase">{line.severity}</span>
      )}
      {line.component !== null && <span className="shrink-0">{line.component}</span>}
      <span className="min-w-0">{line.text}</span>
    </li>
  );
}

function Lines({ lines, follow }: { readonly lines: readonly string[]; readonly follow: boolean }) {
  const { t } = useWords();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (follow) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [follow, lines]);
  return (
    <div
      ref={box}
      role="region"
      tabIndex={0}
      aria-label={t.logs.lines}
      className="card max-h-[65dvh] overflow-auto py-2"
    >
      <ol className="log-text">
        {lines.map((line, index) => (
          <Line key={`${index}:${line.length}`} line={readLogLine(line)} />
        ))}
      </ol>
    </div>
  );
}

function Select(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <label className="grid gap-1 text-sm font-semibold">
      {props.label}
      <select
        className="input font-normal"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      >
        {props.options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function LogsPage() {
  const { t } = useWords();
  const [file, setFile] = useState<string>("agent");
  const [level, setLevel] = useState("");
  const [component, setComponent] = useState("");
  const [text, setText] = useState("");
  const [settled, setSettled] = useState({ text: "", component: "" });
  const [lines, setLines] = useState(100);
  const [follow, setFollow] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ text, component }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, component]);
  const logs = useQuery(
    logsQuery({ file, lines, level, component: settled.component, search: settled.text }, follow),
  );
  return (
    <Page
      title={t.logs.title}
      wide
      actions={
        <>
          <button
            type="button"
            className={`button ${follow ? "button-primary" : "button-plain"}`}
            aria-pressed={follow}
            onClick={() => setFollow(!follow)}
          >
            {follow ? t.logs.following : t.logs.follow}
          </button>
          <button
            type="button"
            className="button button-plain"
            disabled={!logs.data}
            onClick={() => saveText((logs.data?.lines ?? []).join("\n"), `${file}.log`)}
          >
            <Icon name="export" size={16} />
            {t.logs.download}
          </button>
        </>
      }
    >
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
        <Select
          label={t.logs.file}
          value={file}
          options={FILES.map((name) => [name, t.logs.files[name]])}
          onChange={setFile}
        />
        <Select
          label={t.logs.level}
          value={level}
          options={[["", t.common.all], ...LEVELS.map((name) => [name, name] as const)]}
          onChange={setLevel}
        />
        <Select
          label={t.logs.lines}
          value={String(lines)}
          options={COUNTS.map((count) => [String(count), String(count)])}
          onChange={(value) => setLines(Number(value))}
        />
        <label className="grid gap-1 text-sm font-semibold">
          {t.logs.component}
          <input
            className="input font-normal"
            value={component}
            onChange={(event) => setComponent(event.target.value)}
          />
        </label>
        <label className="grid gap-1 text-sm font-semibold">
          {t.logs.text}
          <input
            type="search"
            className="input font-normal"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      </div>
      <QueryView
        query={logs}
        rows={8}
        isEmpty={(data) => data.lines.length === 0}
        empty={
          <Empty icon="logs" title={t.logs.empty}>
            <p>{t.logs.emptyText}</p>
          </Empty>
        }
      >
        {(data) => <Lines lines={data.lines} follow={follow} />}
      </QueryView>
    </Page>
  );
}
