// Where the user writes: draft kept per session, slash menu, files, and what happens while the agent is busy.
import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
} from "react";
import type { BusyMode } from "#protocol/events.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { AttachmentList, useAttachments } from "./attachments.tsx";
import { readDraft, writeDraft } from "./outbox.ts";
import { slashMenu, type WebSlashCommand } from "./slash.ts";

const BUSY_MODES: readonly BusyMode[] = ["queue", "steer", "interrupt"];

export interface Draft {
  readonly text: string;
  readonly attachments: readonly string[];
  readonly whenBusy: BusyMode;
}

/** Draft of one session: written through to the browser's storage. */
function useDraft(sessionId: string) {
  const [text, setText] = useState(() => readDraft(localStorage, sessionId));
  useEffect(() => setText(readDraft(localStorage, sessionId)), [sessionId]);
  return [
    text,
    (next: string) => {
      setText(next);
      writeDraft(localStorage, sessionId, next);
    },
  ] as const;
}

function SlashMenu(props: {
  readonly id: string;
  readonly commands: readonly WebSlashCommand[];
  readonly at: number;
  readonly onChoose: (command: WebSlashCommand) => void;
}) {
  const { t } = useWords();
  return (
    <ul
      id={props.id}
      role="listbox"
      aria-label={t.chat.commands}
      data-testid="slash-menu"
      className="menu absolute inset-x-0 bottom-full mb-2 max-h-72 overflow-y-auto"
    >
      {props.commands.map((command, index) => (
        <li
          key={command.name}
          id={`${props.id}-${index}`}
          role="option"
          aria-selected={index === props.at}
          className="menu-item"
          ref={(node) => {
            if (index === props.at) node?.scrollIntoView({ block: "nearest" });
          }}
          onMouseDown={(event) => {
            event.preventDefault();
            props.onChoose(command);
          }}
        >
          <code className="shrink-0 font-semibold">
            /{command.name}{" "}
            <span className="font-normal text-muted-foreground">{command.args}</span>
          </code>
          <span className="truncate text-sm text-muted-foreground">{command.help}</span>
        </li>
      ))}
    </ul>
  );
}

export function Composer(props: {
  readonly sessionId: string;
  readonly busy: boolean;
  readonly stopping: boolean;
  readonly onSend: (draft: Draft) => Promise<boolean>;
  readonly onStop: () => void;
}) {
  const { t } = useWords();
  const { busy } = props;
  const [text, setText] = useDraft(props.sessionId);
  const [mode, setMode] = useState<BusyMode>("queue");
  const [at, setAt] = useState(0);
  const [menuClosed, setMenuClosed] = useState(false);
  const [dropping, setDropping] = useState(false);
  const attachments = useAttachments();
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const menuId = useId();
  const menu = menuClosed ? null : slashMenu(text);
  const current = menu === null ? 0 : Math.min(at, menu.length - 1);

  useLayoutEffect(() => {
    const box = area.current;
    if (box === null) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, innerHeight * 0.4)}px`;
  }, [text]);

  // On a touch screen the keyboard would cover the page unasked.
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) area.current?.focus();
  }, [props.sessionId]);

  function write(next: string): void {
    setText(next);
    setAt(0);
    setMenuClosed(false);
  }

  async function send(): Promise<void> {
    const files = attachments.ids;
    if ((text.trim() === "" && files.length === 0) || attachments.uploading) return;
    const sent = text;
    setText("");
    const taken = await props.onSend({ text: sent, attachments: files, whenBusy: mode });
    if (taken) attachments.clear();
    else setText(sent);
  }

  function complete(command: WebSlashCommand): void {
    write(`/${command.name}${command.args === "" ? "" : " "}`);
    setMenuClosed(true);
    area.current?.focus();
  }

  function onMenuKey(event: KeyboardEvent, commands: readonly WebSlashCommand[]): boolean {
    const chosen = commands[current];
    if (event.key === "ArrowDown") setAt((current + 1) % commands.length);
    else if (event.key === "ArrowUp") setAt((current - 1 + commands.length) % commands.length);
    else if (event.key === "Escape") setMenuClosed(true);
    else if (event.key === "Tab" && chosen) complete(chosen);
    else if (event.key === "Enter" && chosen && text !== `/${chosen.name}`) complete(chosen);
    else return false;
    event.preventDefault();
    return true;
  }

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    // Enter that ends a word of an input method is not ours.
    if (event.nativeEvent.isComposing) return;
    if (menu !== null && onMenuKey(event, menu)) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    void send();
  }

  function onPaste(event: ClipboardEvent): void {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.clipboardData.files);
  }

  function onDrop(event: DragEvent): void {
    setDropping(false);
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
  }

  const sendLabel = busy ? t.chat[mode] : t.chat.send;
  return (
    <form
      data-composer
      className={`relative rounded-2xl border bg-card focus-within:border-ring ${dropping ? "border-ring" : "border-input"}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={onDrop}
    >
      {menu !== null && <SlashMenu id={menuId} commands={menu} at={current} onChoose={complete} />}
      <AttachmentList attachments={attachments} />
      <textarea
        ref={area}
        rows={1}
        className="block w-full resize-none bg-transparent px-4 pt-3 pb-1 outline-none placeholder:text-muted-foreground"
        aria-label={t.chat.composer}
        placeholder={busy ? t.chat.placeholderBusy : t.chat.placeholder}
        aria-controls={menu === null ? undefined : menuId}
        aria-activedescendant={menu === null ? undefined : `${menuId}-${current}`}
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
      <div className="flex items-center gap-1.5 px-2 pb-2">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            attachments.add(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <button
          type="button"
          className="icon-button text-muted-foreground"
          aria-label={t.chat.attach}
          title={t.chat.attach}
          onClick={() => picker.current?.click()}
        >
          <Icon name="attach" />
        </button>
        {dropping && <span className="text-sm text-muted-foreground">{t.chat.dropHere}</span>}
        <span className="flex-1" />
        {busy && (
          <>
            <select
              aria-label={t.chat.whenBusy}
              className="input w-auto border-transparent text-sm"
              value={mode}
              onChange={(event) =>
                setMode(BUSY_MODES.find((known) => known === event.target.value) ?? "queue")
              }
            >
              {BUSY_MODES.map((known) => (
                <option key={known} value={known} title={t.chat[`${known}Help`]}>
                  {t.chat[known]}
                </option>
              ))}
            </select>
            <button
              type="button"
              className="button button-danger"
              disabled={props.stopping}
              onClick={props.onStop}
            >
              <Icon name="stop" size={16} />
              {props.stopping ? t.chat.stopping : t.chat.stop}
            </button>
          </>
        )}
        <button
          type="submit"
          className="button button-primary size-9 p-0"
          aria-label={sendLabel}
          title={sendLabel}
          disabled={(text.trim() === "" && attachments.ids.length === 0) || attachments.uploading}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
