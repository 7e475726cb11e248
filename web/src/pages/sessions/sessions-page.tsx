// All conversations: list, filters, full-text search, and what can be done to several at once.
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { SearchBody, SessionBody, SessionsBody } from "#protocol/http-sessions.ts";
import { searchQuery, sessionsQuery } from "../../api/queries.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { useNow } from "../../parts/now.ts";
import { Page } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { deleteSessions, useHiddenSessions } from "./pending-deletes.ts";
import { SessionRow } from "./session-row.tsx";
import { snippetParts } from "./snippet.ts";

const STEP = 50;
const TYPING_MS = 250;
const SOURCES = ["web", "cli", "tui", "oneshot", "api-server", "webhook", "cron"];

function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Snippet({ text }: { readonly text: string }) {
  return snippetParts(text).map((part, index) =>
    part.marked ? (
      <mark key={`${index}m`}>{part.text}</mark>
    ) : (
      <span key={`${index}t`}>{part.text}</span>
    ),
  );
}

function Hits({ found }: { readonly found: SearchBody }) {
  const { t, format } = useWords();
  return (
    <>
      <p role="status" className="text-sm text-muted-foreground">
        {t.sessions.results(found.results.length)}
        {found.partial && ` · ${t.sessions.partial}`}
      </p>
      <ul className="card divide-y overflow-hidden">
        {found.results.map((hit) => (
          <li key={hit.session_id}>
            <Link
              to="/chat/$id"
              params={{ id: hit.session_id }}
              data-testid="search-hit"
              className="grid gap-1 px-4 py-2.5 hover:bg-muted"
            >
              <span className="font-semibold">{hit.title ?? t.common.unnamed}</span>
              <span className="text-sm text-muted-foreground">
                <Snippet text={hit.snippet} />
              </span>
              <span className="flex gap-3 text-xs text-muted-foreground">
                <time dateTime={hit.session_started}>{format.dateTime(hit.session_started)}</time>
                <span>{hit.source}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function Search({ text }: { readonly text: string }) {
  const { t } = useWords();
  const found = useQuery(searchQuery(text));
  return (
    <QueryView
      query={found}
      isEmpty={(data) => data.results.length === 0}
      empty={
        <Empty icon="search" title={t.sessions.noHits}>
          <p>{t.sessions.noHitsText}</p>
        </Empty>
      }
    >
      {(data) => <Hits found={data} />}
    </QueryView>
  );
}

function SelectionBar(props: { readonly ids: readonly string[]; readonly onDone: () => void }) {
  const { t } = useWords();
  if (props.ids.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-3" role="status">
      <span>{t.sessions.selected(props.ids.length)}</span>
      <button
        type="button"
        className="button button-danger"
        onClick={() => {
          deleteSessions(props.ids, {
            said: t.sessions.deletedMany(props.ids.length),
            undo: t.common.undo,
          });
          props.onDone();
        }}
      >
        <Icon name="trash" size={16} />
        {t.common.delete}
      </button>
      <button type="button" className="button button-ghost" onClick={props.onDone}>
        {t.sessions.clearSelection}
      </button>
    </div>
  );
}

function Rows(props: {
  readonly rows: readonly SessionBody[];
  readonly body: SessionsBody;
  readonly onMore: () => void;
}) {
  const { t } = useWords();
  const now = useNow(60_000);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const ids = props.rows.map((row) => row.id).filter((id) => selected.has(id));
  function select(id: string, on: boolean): void {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    setSelected(next);
  }
  return (
    <>
      <SelectionBar ids={ids} onDone={() => setSelected(new Set())} />
      <ul className="card divide-y overflow-hidden">
        {props.rows.map((row) => (
          <SessionRow
            key={row.id}
            session={row}
            now={now}
            selected={selected.has(row.id)}
            onSelect={(on) => select(row.id, on)}
          />
        ))}
      </ul>
      <div className="flex items-center justify-between text-sm text-muted-foreground">
        <span>{t.sessions.total(props.body.total)}</span>
        {props.body.sessions.length < props.body.total && (
          <button type="button" className="button button-plain" onClick={props.onMore}>
            {t.common.loadMore}
          </button>
        )}
      </div>
    </>
  );
}

function List() {
  const { t } = useWords();
  const hidden = useHiddenSessions();
  const [archived, setArchived] = useState(false);
  const [source, setSource] = useState("");
  const [limit, setLimit] = useState(STEP);
  const list = useQuery(sessionsQuery({ limit, archived, source }));
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <select
          aria-label={t.sessions.filterSource}
          className="input w-auto"
          value={source}
          onChange={(event) => setSource(event.target.value)}
        >
          <option value="">{`${t.sessions.filterSource}: ${t.common.all}`}</option>
          {SOURCES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <label className="flex min-h-9 items-center gap-2">
          <input
            type="checkbox"
            className="size-5 accent-primary"
            checked={archived}
            onChange={(event) => setArchived(event.target.checked)}
          />
          {t.sessions.archived}
        </label>
      </div>
      <QueryView
        query={list}
        isEmpty={(data) => data.sessions.every((row) => hidden.has(row.id))}
        empty={
          <Empty icon="sessions" title={archived ? t.sessions.emptyArchived : t.sessions.empty}>
            <p>{t.sessions.emptyText}</p>
            <Link to="/chat" className="button button-primary mt-2">
              {t.chat.newChat}
            </Link>
          </Empty>
        }
      >
        {(data) => (
          <Rows
            rows={data.sessions.filter((row) => !hidden.has(row.id))}
            body={data}
            onMore={() => setLimit(Math.min(500, limit + STEP))}
          />
        )}
      </QueryView>
    </>
  );
}

export function SessionsPage() {
  const { t } = useWords();
  const { q = "" } = useSearch({ from: "/sessions" });
  const navigate = useNavigate();
  const [text, setText] = useState(q);
  const settled = useSettledText(text).trim();
  useEffect(() => {
    void navigate({ to: "/sessions", search: settled === "" ? {} : { q: settled }, replace: true });
  }, [settled, navigate]);
  return (
    <Page title={t.sessions.title}>
      <div className="relative">
        <span className="pointer-events-none absolute inset-y-0 start-2.5 grid place-items-center text-muted-foreground">
          <Icon name="search" />
        </span>
        <input
          type="search"
          className="input ps-9"
          aria-label={t.sessions.searchLabel}
          placeholder={t.sessions.searchLabel}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {settled === "" ? <List /> : <Search text={settled} />}
    </Page>
  );
}
