// One tool call: what was asked, how it stands, its output folded to 200 lines.
import { useState } from "react";
import { useWords } from "../../i18n/i18n.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { useNow } from "../../parts/now.ts";
import type { ToolView } from "./items.ts";
import { foldLines, shortInput } from "./tool-text.ts";

const FOLD_AT = 200;

const LOOK: Readonly<
  Record<ToolView["state"], { readonly icon: IconName; readonly tone: string }>
> = {
  waiting: { icon: "pause", tone: "text-muted-foreground" },
  running: { icon: "dot", tone: "text-warning dot-pulse" },
  ok: { icon: "check", tone: "text-success" },
  failed: { icon: "error", tone: "text-destructive" },
  unknown: { icon: "question", tone: "text-muted-foreground" },
};

/** What the user opened or closed, kept while a card is scrolled out of the window. */
const choices = new Map<string, boolean>();

function Elapsed({ tool }: { readonly tool: ToolView }) {
  const { format } = useWords();
  const counting = tool.state === "running" && tool.startedAtMs !== null;
  const now = useNow(counting ? 1000 : null);
  if (tool.durationMs !== null) return <>{format.duration(tool.durationMs)}</>;
  if (!counting || tool.startedAtMs === null) return null;
  const seconds = Math.floor((now - tool.startedAtMs) / 1000);
  return seconds < 1 ? null : <>{format.duration(seconds * 1000)}</>;
}

function Output({ tool }: { readonly tool: ToolView }) {
  const { t } = useWords();
  const [whole, setWhole] = useState(false);
  const folded = foldLines(tool.output, whole ? Number.POSITIVE_INFINITY : FOLD_AT);
  if (tool.output === "") {
    const text = tool.state === "waiting" || tool.state === "running" ? null : t.chat.tool.noOutput;
    return text && <p className="text-sm text-muted-foreground">{text}</p>;
  }
  return (
    <div>
      {folded.hidden > 0 && (
        <button
          type="button"
          className="button button-ghost text-sm underline"
          onClick={() => setWhole(true)}
        >
          {t.common.showMore(folded.hidden)}
        </button>
      )}
      <pre
        data-testid="tool-output"
        aria-label={t.chat.tool.output}
        role="region"
        tabIndex={0}
        className="log-text max-h-96 overflow-auto rounded-(--radius) bg-background p-3 text-foreground"
      >
        {folded.text}
      </pre>
      {tool.truncated && <p className="text-xs text-muted-foreground">{t.chat.tool.cut}</p>}
    </div>
  );
}

function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  const command = (input as { readonly command?: unknown } | null)?.command;
  return typeof command === "string" && Object.keys(input as object).length === 1
    ? command
    : JSON.stringify(input, null, 2);
}

export function ToolCard({ tool }: { readonly tool: ToolView }) {
  const { t } = useWords();
  const [choice, setChoice] = useState(choices.get(tool.callId));
  const tells = tool.state === "running" && tool.output !== "";
  const open = choice ?? (tells || tool.state === "failed");
  const look = LOOK[tool.state];
  const input = inputText(tool.input);
  const bodyId = `tool-${tool.callId}`;
  function toggle(): void {
    choices.set(tool.callId, !open);
    setChoice(!open);
  }
  return (
    <section
      className="card min-w-0 overflow-hidden"
      data-testid="tool-card"
      data-state={tool.state}
    >
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? bodyId : undefined}
        className="flex min-h-10 w-full min-w-0 items-center gap-2.5 px-3 py-1.5 text-start text-sm hover:bg-accent"
        onClick={toggle}
      >
        <span className={look.tone}>
          <Icon name={look.icon} size={16} />
        </span>
        <span className="font-semibold">{tool.name}</span>
        <code className="min-w-0 flex-1 truncate font-mono text-xs text-muted-foreground">
          {shortInput(tool.input)}
        </code>
        <span className="shrink-0 text-xs text-muted-foreground tabular-nums">
          {tool.exitCode !== null && tool.exitCode !== 0 && (
            <span className="me-2 text-destructive">{t.chat.tool.exit(tool.exitCode)}</span>
          )}
          <span className={tool.state === "ok" ? "sr-only" : "me-2"}>
            {t.chat.tool[tool.state]}
          </span>
          <Elapsed tool={tool} />
        </span>
        <span className={`transition-transform ${open ? "rotate-90" : ""}`}>
          <Icon name="chevron" size={16} />
        </span>
      </button>
      {open && (
        <div id={bodyId} className="grid gap-2 border-t px-3 py-2.5">
          <div className="flex items-start gap-2">
            <pre className="log-text max-h-60 min-w-0 flex-1 overflow-auto" tabIndex={0}>
              {input}
            </pre>
            <CopyButton text={input} />
          </div>
          <Output tool={tool} />
          {tool.summary !== null && tool.output === "" && (
            <p className="text-sm text-muted-foreground">{tool.summary}</p>
          )}
          {tool.exitCode !== null && (
            <p className="text-xs text-muted-foreground" data-testid="tool-exit">
              {t.chat.tool.exit(tool.exitCode)}
            </p>
          )}
        </div>
      )}
    </section>
  );
}
