// The rows of a conversation: user, assistant, notices, endings.
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { useWords } from "../../i18n/i18n.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import type { Ending, Item } from "./items.ts";
import type { LiveNotice } from "./live.ts";
import { ToolCard } from "./tool-card.tsx";
import type { RowActions } from "./row-actions.ts";
import { UserRow } from "./user-row.tsx";

function Reasoning({ text }: { readonly text: string }) {
  const { t } = useWords();
  return (
    <details className="text-sm text-muted-foreground">
      <summary className="min-h-6 cursor-pointer">{t.chat.reasoning}</summary>
      <p className="mt-1 border-s-2 ps-3 whitespace-pre-wrap">{text}</p>
    </details>
  );
}

const AssistantRow = memo(function AssistantRow(props: {
  readonly item: Extract<Item, { kind: "assistant" }>;
}) {
  const { t, format } = useWords();
  const { item } = props;
  return (
    <article
      aria-label={t.chat.agent}
      aria-busy={item.streaming}
      data-testid="assistant-message"
      className="group grid min-w-0 gap-2"
    >
      {item.reasoning !== "" && <Reasoning text={item.reasoning} />}
      {item.text !== "" && <Markdown text={item.text} />}
      <footer
        className={`flex min-h-7 items-center gap-2 text-xs text-muted-foreground ${item.interrupted ? "" : "-mt-1 -mb-5"}`}
      >
        {item.interrupted && (
          <span className="badge border-warning text-warning" data-testid="interrupted-mark">
            <Icon name="stop" size={12} />
            {t.chat.interruptedMark}
          </span>
        )}
        {!item.streaming && item.text !== "" && (
          <span className="flex items-center gap-1 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
            <CopyButton text={item.text} />
            {item.at !== null && <time dateTime={item.at}>{format.dateTime(item.at)}</time>}
          </span>
        )}
      </footer>
    </article>
  );
});

const NOTICE_LOOK: Readonly<
  Record<LiveNotice["level"], { readonly icon: IconName; readonly tone: string }>
> = {
  info: { icon: "info", tone: "text-muted-foreground" },
  warning: { icon: "warning", tone: "text-warning" },
  error: { icon: "error", tone: "text-destructive" },
};

function NoticeRow({ notice }: { readonly notice: LiveNotice }) {
  const { t } = useWords();
  const look = NOTICE_LOOK[notice.level];
  const text = noticeText(notice, t.chat);
  return (
    <p className={`flex items-start justify-center gap-2 text-center text-sm ${look.tone}`}>
      <Icon name={look.icon} size={16} />
      <span className="whitespace-pre-wrap">{text}</span>
    </p>
  );
}

function noticeText(notice: LiveNotice, words: ReturnType<typeof useWords>["t"]["chat"]): string {
  switch (notice.code) {
    case "compressed":
      return words.compressed(notice.text);
    case "COMPRESS_FAILED":
      return notice.text === "" ? words.compressFailed : notice.text;
    case "process-end":
      return words.processEnd(notice.text);
    default:
      return notice.text;
  }
}

function EndingRow(props: { readonly ending: Ending; readonly actions: RowActions }) {
  const { t } = useWords();
  const { ending, actions } = props;
  const retry = (
    <button type="button" className="button button-plain" onClick={actions.retry}>
      <Icon name="retry" size={16} />
      {t.chat.retryAnswer}
    </button>
  );
  const proceed = (
    <button type="button" className="button button-primary" onClick={actions.proceed}>
      {t.chat.continue}
    </button>
  );
  switch (ending.type) {
    case "interrupted":
      return (
        <EndingCard icon="stop" tone="border-warning" title={t.chat.interrupted} type="interrupted">
          {proceed}
          {retry}
        </EndingCard>
      );
    case "unanswered":
      return (
        <EndingCard icon="warning" tone="" title={t.chat.unanswered} type="unanswered">
          {retry}
        </EndingCard>
      );
    case "budget":
      return (
        <EndingCard icon="warning" tone="border-warning" title={t.chat.budget} type="budget">
          {proceed}
        </EndingCard>
      );
    case "failed":
      return (
        <EndingCard
          icon="error"
          tone="border-destructive"
          title={t.chat.errorTitles[ending.error.kind] ?? t.errors.title}
          text={ending.error.message}
          type="failed"
        >
          <NextStep error={ending.error} actions={actions} />
          {retry}
        </EndingCard>
      );
  }
}

/** The step that repairs this kind of failure (agent.md §3.5). */
function NextStep(props: {
  readonly error: Extract<Ending, { type: "failed" }>["error"];
  readonly actions: RowActions;
}) {
  const { t } = useWords();
  const { error, actions } = props;
  if (error.code === "MODEL_NOT_CONFIGURED") {
    return (
      <Link to="/setup" className="button button-primary">
        {t.chat.fixSetup}
      </Link>
    );
  }
  switch (error.kind) {
    case "auth":
    case "billing":
      return (
        <Link to="/env" className="button button-primary">
          {t.chat.fixKey}
        </Link>
      );
    case "model-missing":
    case "filtered":
    case "bad-request":
      return (
        <Link to="/models" className="button button-primary">
          {t.chat.fixModel}
        </Link>
      );
    case "context":
      return (
        <button type="button" className="button button-primary" onClick={actions.compress}>
          {t.chat.fixCompress}
        </button>
      );
    case "store":
    case "internal":
      return (
        <Link to="/logs" className="button button-primary">
          {t.chat.fixLogs}
        </Link>
      );
    case "rate-limit":
    case "overloaded":
    case "server":
    case "network":
    case "stalled":
    case "garbled":
    case "empty":
    case "aborted":
      return null;
  }
}

function EndingCard(props: {
  readonly icon: IconName;
  readonly tone: string;
  readonly title: string;
  readonly type: Ending["type"];
  readonly text?: string;
  readonly children: ReactNode;
}) {
  return (
    <section
      data-testid={`ending-${props.type}`}
      className={`card flex flex-wrap items-center gap-3 p-3.5 ${props.tone}`}
    >
      <Icon name={props.icon} />
      <div className="min-w-48 flex-1">
        <p className="font-semibold">{props.title}</p>
        {props.text !== undefined && (
          <p className="text-sm whitespace-pre-wrap text-muted-foreground">{props.text}</p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">{props.children}</div>
    </section>
  );
}

function Working() {
  const { t } = useWords();
  return (
    <p className="flex items-center gap-2 text-sm text-muted-foreground">
      <span className="dot-pulse text-primary">
        <Icon name="spark" size={18} />
      </span>
      {t.chat.working}
    </p>
  );
}

export function Row(props: { readonly item: Item; readonly actions: RowActions }) {
  const { t } = useWords();
  const { item, actions } = props;
  switch (item.kind) {
    case "user":
      return <UserRow item={item} actions={actions} />;
    case "assistant":
      return <AssistantRow item={item} />;
    case "tool":
      return <ToolCard tool={item.tool} />;
    case "summary":
      return (
        <details className="card px-3.5 py-2.5 text-sm">
          <summary className="cursor-pointer text-muted-foreground">{t.chat.summary}</summary>
          <div className="pt-2">
            <Markdown text={item.text} />
          </div>
        </details>
      );
    case "notice":
      return <NoticeRow notice={item.notice} />;
    case "ending":
      return <EndingRow ending={item.ending} actions={actions} />;
    case "working":
      return <Working />;
  }
}
