// Model, tokens, cost and how full the context is.
import { useQuery } from "@tanstack/react-query";
import type { ChatStateBody } from "#protocol/http-chat.ts";
import { sessionQuery } from "../../api/queries.ts";
import { useWords } from "../../i18n/i18n.tsx";

function ContextBar(props: { readonly used: number; readonly window: number }) {
  const { t, format } = useWords();
  if (props.window <= 0) return null;
  const share = Math.min(1, props.used / props.window);
  const text = t.chat.usage.context(format.compact(props.used), format.compact(props.window));
  const tone = share > 0.9 ? "bg-destructive" : share > 0.7 ? "bg-warning" : "bg-success";
  return (
    <span className="flex items-center gap-1.5" title={text}>
      <span
        role="meter"
        aria-label={text}
        aria-valuemin={0}
        aria-valuemax={props.window}
        aria-valuenow={Math.min(props.used, props.window)}
        className="h-1.5 w-16 overflow-hidden rounded-full bg-secondary"
      >
        <span className={`block h-full ${tone}`} style={{ width: `${share * 100}%` }} />
      </span>
      {format.percent(share)}
    </span>
  );
}

export function UsageLine(props: {
  readonly sessionId: string;
  readonly chat: ChatStateBody | null;
}) {
  const { t, format } = useWords();
  const session = useQuery(sessionQuery(props.sessionId));
  const { chat } = props;
  const row = session.data;
  return (
    <div
      role="group"
      aria-label={t.chat.usage.label}
      data-testid="usage"
      className="flex min-h-6 flex-wrap items-center gap-x-4 gap-y-0.5 px-2 text-xs text-muted-foreground tabular-nums"
    >
      {chat?.model != null && <span className="max-w-60 truncate">{chat.model}</span>}
      {chat?.provider === "demo" && (
        <span className="badge border-warning text-warning">{t.chat.demoBadge}</span>
      )}
      <span className="flex-1" />
      {row && row.input_tokens + row.output_tokens > 0 && (
        <span>
          {t.chat.usage.tokens(format.compact(row.input_tokens), format.compact(row.output_tokens))}
        </span>
      )}
      {row?.estimated_cost != null && row.estimated_cost > 0 && (
        <span title={t.chat.usage.cost}>{format.money(row.estimated_cost)}</span>
      )}
      {chat && <ContextBar used={chat.context.used} window={chat.context.window} />}
    </div>
  );
}
