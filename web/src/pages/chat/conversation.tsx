// One conversation: its rows, what it waits for, and the composer.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from "react";
import type { AgentEvent } from "#protocol/events.ts";
import { announce } from "../../app/announce.ts";
import { client, queries, socket } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Empty, Failure, Skeleton } from "../../parts/states.tsx";
import { Composer, type Draft } from "./composer.tsx";
import { conversation, storedPart } from "./items.ts";
import { isBusy } from "./live.ts";
import { MessageList } from "./message-list.tsx";
import { createOutbox } from "./outbox.ts";
import { RequestCards } from "./request-cards.tsx";
import type { RowActions } from "./row-actions.ts";
import { SessionController, type ChatView } from "./session-controller.ts";
import { UsageLine } from "./usage-line.tsx";
import { useCommands, type Note } from "./use-commands.ts";

export const outbox = createOutbox(localStorage);

const MOST_SPOKEN = 600;

/** Makes lists fresh and speaks finished answers, not each delta. */
function useOnEvent(): (event: AgentEvent) => void {
  const { t } = useWords();
  return (event) => {
    if (event.type !== "turn-end" && event.type !== "title") return;
    void queries.invalidateQueries({ queryKey: ["sessions"] });
    if (event.type !== "turn-end") return;
    announce(event.text === "" ? t.chat.finished : event.text.slice(0, MOST_SPOKEN));
  };
}

function useController(sessionId: string): readonly [SessionController, ChatView] {
  const onEvent = useOnEvent();
  const [controller] = useState(
    () =>
      new SessionController(sessionId, { client, socket, outbox, now: () => Date.now(), onEvent }),
  );
  useEffect(() => {
    controller.open();
    return () => controller.close();
  }, [controller]);
  return [controller, useSyncExternalStore(controller.subscribe, controller.view)];
}

export function NoteCard(props: { readonly note: Note | null; readonly onClose: () => void }) {
  const { t } = useWords();
  if (props.note === null) return null;
  return (
    <div
      role="status"
      data-testid="note"
      className={`card flex max-h-64 items-start gap-2 overflow-auto px-3 py-2 text-sm ${props.note.tone === "error" ? "border-destructive" : ""}`}
    >
      <div className="min-w-0 flex-1">
        {props.note.lines.map((line) => (
          <p key={line} className={props.note?.lines.length === 1 ? "" : "log-text"}>
            {line}
          </p>
        ))}
      </div>
      <button
        type="button"
        className="icon-button size-7"
        aria-label={t.common.close}
        onClick={props.onClose}
      >
        <Icon name="close" size={15} />
      </button>
    </div>
  );
}

function QueueList(props: { readonly view: ChatView; readonly controller: SessionController }) {
  const { t } = useWords();
  const { queue } = props.view.live;
  if (queue.length === 0) return null;
  return (
    <ul aria-label={t.chat.queued(queue.length)} className="grid gap-1" data-testid="queue">
      {queue.map((entry) => (
        <li key={entry.id} className="flex items-center gap-2 ps-2 text-sm text-muted-foreground">
          <span className="badge">{t.chat[entry.mode]}</span>
          <span className="min-w-0 flex-1 truncate">{entry.text}</span>
          <button
            type="button"
            className="icon-button size-7"
            aria-label={`${t.chat.unqueue}: ${entry.text.slice(0, 60)}`}
            title={t.chat.unqueue}
            onClick={() => void props.controller.unqueue(entry.id).catch(() => {})}
          >
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** What goes on right now, in words: retries, tools, another place that holds the session. */
function StateLine({ view }: { readonly view: ChatView }) {
  const { t, format } = useWords();
  const { live, chat } = view;
  if (live.retry !== null) {
    return (
      <p role="status" className="px-2 text-sm text-warning">
        {live.retry.message}{" "}
        {t.chat.retrying(live.retry.attempt, format.duration(live.retry.waitMs))}
      </p>
    );
  }
  if (chat !== null && chat.status !== "idle" && chat.holder !== null && live.turnId === null) {
    return (
      <p role="status" className="px-2 text-sm text-muted-foreground">
        {t.chat.elsewhere(chat.holder)}
      </p>
    );
  }
  return null;
}

export function Frame({
  list,
  children,
}: {
  readonly list: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {list}
      <div className="mx-auto grid w-full max-w-3xl gap-2 px-3 pb-3 sm:px-4">{children}</div>
    </div>
  );
}

export function Conversation({ sessionId }: { readonly sessionId: string }) {
  const { t } = useWords();
  const navigate = useNavigate();
  const [controller, view] = useController(sessionId);
  const [stopping, setStopping] = useState(false);
  const { live, log } = view;
  const busy = isBusy(live);
  const stored = useMemo(() => storedPart(log.rows), [log.rows]);
  const items = useMemo(() => conversation(stored, live, view.outbox), [stored, live, view.outbox]);

  useEffect(() => {
    if (!busy) setStopping(false);
  }, [busy]);

  // Compression moved the conversation to a child: follow it.
  const { movedTo } = live;
  useEffect(() => {
    if (movedTo !== null) {
      void navigate({ to: "/chat/$id", params: { id: movedTo }, replace: true });
    }
  }, [movedTo, navigate]);

  async function post(draft: Draft): Promise<boolean> {
    await controller.send({
      text: draft.text,
      ...(draft.attachments.length > 0 && { attachments: draft.attachments }),
      ...(isBusy(controller.view().live) && { when_busy: draft.whenBusy }),
    });
    return true;
  }

  const commands = useCommands(controller, post);

  async function send(draft: Draft): Promise<boolean> {
    if (await commands.handle(draft, busy)) return true;
    return post(draft);
  }

  const actions: RowActions = {
    retry: () => void controller.retry().catch(commands.fail),
    proceed: () => void post({ text: t.chat.continueText, attachments: [], whenBusy: "queue" }),
    compress: () => void controller.compress("").catch(commands.fail),
    sendAgain: (clientId) => void controller.sendAgain(clientId, "queue"),
    discard: (clientId) => controller.discard(clientId),
    resend: busy ? null : (replaces, text) => void controller.send({ text, replaces }),
  };

  function stop(): void {
    setStopping(true);
    commands.stop().then(
      (stops) => stops || setStopping(false),
      (error: unknown) => {
        setStopping(false);
        commands.fail(error);
      },
    );
  }

  if (view.failure !== null && !log.loaded) {
    return (
      <div className="mx-auto w-full max-w-3xl p-4">
        {view.failure.status === 404 ? (
          <Empty icon="question" title={t.chat.missing}>
            <p>{t.chat.missingText}</p>
          </Empty>
        ) : (
          <Failure error={view.failure} onRetry={() => location.reload()} />
        )}
      </div>
    );
  }

  return (
    <Frame
      list={
        log.loaded ? (
          <MessageList
            items={items}
            actions={actions}
            complete={log.complete}
            loadingOlder={view.loadingOlder}
            onOlder={() => void controller.loadOlder()}
          />
        ) : (
          <div className="mx-auto w-full max-w-3xl flex-1 p-4">
            <Skeleton rows={5} />
          </div>
        )
      }
    >
      <StateLine view={view} />
      <RequestCards pending={live.pending} controller={controller} />
      <NoteCard note={commands.note} onClose={commands.close} />
      <QueueList view={view} controller={controller} />
      <Composer
        sessionId={sessionId}
        busy={busy}
        stopping={stopping || live.state === "interrupting"}
        onSend={send}
        onStop={stop}
      />
      <UsageLine sessionId={sessionId} chat={view.chat} />
    </Frame>
  );
}
