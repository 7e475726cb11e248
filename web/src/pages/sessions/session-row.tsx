// One conversation in the list, with everything that can be done to it.
import { Link, useNavigate } from "@tanstack/react-router";
import { useMutation } from "@tanstack/react-query";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import type { SessionBody, SessionPatchInput } from "#protocol/http-sessions.ts";
import { copyText } from "../../app/plain-http.ts";
import { ApiError } from "../../api/error.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { download } from "../../api/download.ts";
import { deleteSessions } from "./pending-deletes.ts";

const pathOf = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

export function usePatch(id: string) {
  return useMutation({
    mutationFn: (json: SessionPatchInput) => client.request("PATCH", pathOf(id), { json }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["sessions"] }),
    onError: (error) =>
      showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" }),
  });
}

function RenameDialog(props: { readonly session: SessionBody; readonly onClose: () => void }) {
  const { t } = useWords();
  const [title, setTitle] = useState(props.session.title ?? "");
  const rename = useMutation({
    mutationFn: () => client.request("PATCH", pathOf(props.session.id), { json: { title } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["sessions"] });
      props.onClose();
    },
  });
  const error = rename.error instanceof ApiError ? rename.error.detail : null;
  return (
    <Dialog title={t.sessions.rename} onClose={props.onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate();
        }}
      >
        <Field label={t.sessions.newTitle} error={error}>
          {(field) => (
            <input
              {...field}
              className="input"
              maxLength={100}
              required
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <button type="button" className="button button-plain" onClick={props.onClose}>
            {t.common.cancel}
          </button>
          <button type="submit" className="button button-primary" disabled={rename.isPending}>
            {t.common.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function MenuItem(props: {
  readonly icon: IconName;
  readonly label: string;
  readonly onSelect: () => void;
}) {
  return (
    <DropdownMenu.Item className="menu-item" onSelect={props.onSelect}>
      <Icon name={props.icon} size={16} />
      {props.label}
    </DropdownMenu.Item>
  );
}

function RowMenu({ session, title }: { readonly session: SessionBody; readonly title: string }) {
  const { t } = useWords();
  const [renaming, setRenaming] = useState(false);
  const patch = usePatch(session.id);
  const navigate = useNavigate();
  const exportAs = (format: "md" | "jsonl") => {
    download(`${pathOf(session.id)}/export`, { format }, `${session.id}.${format}`).catch(
      (error: unknown) =>
        showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" }),
    );
  };
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className="icon-button" aria-label={t.sessions.actionsOf(title)}>
          <Icon name="dots" />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
            <MenuItem icon="edit" label={t.sessions.rename} onSelect={() => setRenaming(true)} />
            <MenuItem
              icon="pin"
              label={session.pinned ? t.sessions.unpin : t.sessions.pin}
              onSelect={() => patch.mutate({ pinned: !session.pinned })}
            />
            <MenuItem
              icon="archive"
              label={session.archived ? t.sessions.unarchive : t.sessions.archive}
              onSelect={() => patch.mutate({ archived: !session.archived })}
            />
            <MenuItem
              icon="export"
              label={t.sessions.exportMarkdown}
              onSelect={() => exportAs("md")}
            />
            <MenuItem
              icon="export"
              label={t.sessions.exportJson}
              onSelect={() => exportAs("jsonl")}
            />
            <MenuItem
              icon="copy"
              label={t.sessions.openTerminal}
              onSelect={() => {
                void copyText(`hermes --resume ${session.id}`).then(() =>
                  showToast(t.common.copied),
                );
              }}
            />
            <MenuItem
              icon="terminal"
              label={t.terminal.openSession}
              onSelect={() => void navigate({ to: "/terminal", search: { resume: session.id } })}
            />
            <MenuItem
              icon="trash"
              label={t.common.delete}
              onSelect={() =>
                deleteSessions([session.id], {
                  said: t.sessions.deleted(title),
                  undo: t.common.undo,
                })
              }
            />
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {renaming && <RenameDialog session={session} onClose={() => setRenaming(false)} />}
    </>
  );
}

export function SessionRow(props: {
  readonly session: SessionBody;
  readonly now: number;
  readonly selected: boolean;
  readonly onSelect: (selected: boolean) => void;
}) {
  const { t, format } = useWords();
  const { session } = props;
  const title = session.title ?? t.common.unnamed;
  return (
    <li
      data-testid="session-row"
      className="flex items-center gap-2 px-2 py-1.5 hover:bg-muted sm:px-3"
    >
      <input
        type="checkbox"
        className="m-0.5 size-5 shrink-0 accent-primary"
        aria-label={t.sessions.select(title)}
        checked={props.selected}
        onChange={(event) => props.onSelect(event.target.checked)}
      />
      <Link to="/chat/$id" params={{ id: session.id }} className="grid min-w-0 flex-1 gap-0.5 py-1">
        <span className="flex min-w-0 items-center gap-2">
          {session.pinned && (
            <span className="text-primary" title={t.sessions.pinned}>
              <Icon name="pin" size={15} />
              <span className="sr-only">{t.sessions.pinned}</span>
            </span>
          )}
          <span className="truncate font-semibold">{title}</span>
          {session.state === "running" && (
            <span className="badge border-success text-success">
              <Icon name="dot" size={12} />
              {t.sessions.live}
            </span>
          )}
        </span>
        <span className="flex flex-wrap gap-x-3 text-xs text-muted-foreground">
          <time dateTime={session.last_active_at} title={format.dateTime(session.last_active_at)}>
            {format.ago(session.last_active_at, props.now)}
          </time>
          <span>{session.source}</span>
          {session.model !== null && <span className="max-w-48 truncate">{session.model}</span>}
          <span>{t.sessions.messages(session.message_count)}</span>
          {session.tool_call_count > 0 && <span>{t.sessions.tools(session.tool_call_count)}</span>}
        </span>
      </Link>
      <RowMenu session={session} title={title} />
    </li>
  );
}
