// A text of the user: sent, waiting, refused, or being written anew.
import { useEffect, useRef, useState } from "react";
import { useWords } from "../../i18n/i18n.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icons.tsx";
import type { Item, Outgoing } from "./items.ts";
import type { RowActions } from "./row-actions.ts";

type UserItem = Extract<Item, { kind: "user" }>;

/** Texts that are being changed, kept while their row is scrolled out of the window. */
const edits = new Map<number, string>();

function OutgoingNote(props: { readonly outgoing: Outgoing; readonly actions: RowActions }) {
  const { t } = useWords();
  const { outgoing, actions } = props;
  if (outgoing.state === "sending") {
    return <p className="text-xs text-muted-foreground">{t.chat.sending}</p>;
  }
  if (outgoing.state === "waiting") {
    return (
      <p className="text-xs text-warning" data-testid="unsent">
        {t.chat.unsent}
      </p>
    );
  }
  return (
    <div role="alert" className="grid justify-items-end gap-1 text-sm" data-testid="send-failed">
      <p className="text-destructive">
        {t.chat.sendFailed}: {outgoing.reason}
      </p>
      <div className="flex gap-2">
        <button
          type="button"
          className="button button-plain"
          onClick={() => actions.sendAgain(outgoing.clientId)}
        >
          {t.chat.sendAgain}
        </button>
        <button
          type="button"
          className="button button-ghost"
          onClick={() => actions.discard(outgoing.clientId)}
        >
          {t.chat.discard}
        </button>
      </div>
    </div>
  );
}

function Editor(props: {
  readonly messageId: number;
  readonly text: string;
  readonly onSend: (text: string) => void;
  readonly onClose: () => void;
}) {
  const { t } = useWords();
  const { messageId, onSend, onClose } = props;
  const [text, setText] = useState(edits.get(messageId) ?? props.text);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);

  function close(): void {
    edits.delete(messageId);
    onClose();
  }

  function send(): void {
    if (text.trim() === "") return;
    close();
    onSend(text);
  }

  return (
    <form
      className="grid w-full gap-2"
      data-testid="edit-message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={area}
        className="input max-h-[40dvh] min-h-24"
        aria-label={t.chat.editText}
        value={text}
        onChange={(event) => {
          edits.set(messageId, event.target.value);
          setText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") close();
          if (event.key !== "Enter" || event.shiftKey) return;
          event.preventDefault();
          send();
        }}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="me-auto text-xs text-muted-foreground">{t.chat.editHint}</p>
        <button type="button" className="button button-ghost" onClick={close}>
          {t.common.cancel}
        </button>
        <button type="submit" className="button button-primary" disabled={text.trim() === ""}>
          {t.chat.sendAgain}
        </button>
      </div>
    </form>
  );
}

export function UserRow(props: { readonly item: UserItem; readonly actions: RowActions }) {
  const { t, format } = useWords();
  const { item, actions } = props;
  const { messageId } = item;
  const { resend } = actions;
  const [editing, setEditing] = useState(messageId !== null && edits.has(messageId));
  return (
    <article
      aria-label={t.chat.you}
      data-testid="user-message"
      className="group grid justify-items-end gap-1"
    >
      {editing && messageId !== null && resend !== null ? (
        <Editor
          messageId={messageId}
          text={item.text}
          onSend={(text) => resend(messageId, text)}
          onClose={() => setEditing(false)}
        />
      ) : (
        <>
          <div
            className="max-w-[min(85%,42rem)] rounded-2xl rounded-ee-sm bg-secondary px-4 py-2.5 whitespace-pre-wrap text-secondary-foreground"
            title={item.at === null ? undefined : format.dateTime(item.at)}
          >
            {item.text}
          </div>
          {messageId !== null && (
            <div className="-mb-3 flex opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
              <CopyButton text={item.text} />
              {resend !== null && (
                <button
                  type="button"
                  className="icon-button size-7 min-h-7 min-w-7 pointer-coarse:size-11"
                  aria-label={t.chat.edit}
                  title={t.chat.edit}
                  onClick={() => setEditing(true)}
                >
                  <Icon name="edit" size={15} />
                </button>
              )}
            </div>
          )}
        </>
      )}
      {item.outgoing && <OutgoingNote outgoing={item.outgoing} actions={actions} />}
    </article>
  );
}
