// /chat (a new conversation) and /chat/$id.
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { StartChatBody } from "#protocol/http-chat.ts";
import { randomId } from "../../app/plain-http.ts";
import { ApiError } from "../../api/error.ts";
import { sessionQuery, setupQuery } from "../../api/queries.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { useTitle } from "../../parts/page.tsx";
import { Composer, type Draft } from "./composer.tsx";
import { Conversation, Frame, NoteCard, outbox } from "./conversation.tsx";
import { useCommands } from "./use-commands.ts";

const NEW = "new";

function Title({ id }: { readonly id: string | null }) {
  const { t } = useWords();
  const session = useQuery({ ...sessionQuery(id ?? ""), enabled: id !== null });
  const title = id === null ? t.chat.newChat : (session.data?.title ?? t.chat.title);
  useTitle(title);
  return (
    <div className="flex items-center gap-3 border-b px-4 py-2">
      <h1 className="min-w-0 flex-1 truncate font-semibold" data-testid="chat-title">
        {title}
      </h1>
      {id !== null && (
        <Link to="/chat" className="icon-button lg:hidden" aria-label={t.chat.newChat}>
          <Icon name="plus" />
        </Link>
      )}
    </div>
  );
}

/** Makes the session, puts the text into its outbox, and goes there: the conversation sends it. */
function useStart() {
  const navigate = useNavigate();
  return async (draft: Draft): Promise<void> => {
    const { session_id: id } = await client.request<StartChatBody>("POST", "/api/chat/sessions", {
      json: {},
    });
    outbox.add(id, {
      clientId: `web-${randomId()}`,
      text: draft.text,
      ...(draft.attachments.length > 0 && { attachments: draft.attachments }),
    });
    void queries.invalidateQueries({ queryKey: ["sessions"] });
    await navigate({ to: "/chat/$id", params: { id } });
  };
}

function NewConversation() {
  const { t } = useWords();
  const setup = useQuery(setupQuery);
  const start = useStart();
  const [starting, setStarting] = useState(false);
  const commands = useCommands(null, begin);
  const demo = setup.data?.provider === "demo";
  const ready = setup.data?.model_ready !== false;

  async function begin(draft: Draft): Promise<boolean> {
    if (starting) return false;
    setStarting(true);
    try {
      await start(draft);
      return true;
    } catch (error) {
      commands.fail(error instanceof ApiError ? error : new Error(String(error)));
      return false;
    } finally {
      setStarting(false);
    }
  }

  async function send(draft: Draft): Promise<boolean> {
    if (await commands.handle(draft, false)) return true;
    return begin(draft);
  }

  return (
    <Frame
      list={
        <div className="grid min-h-0 flex-1 place-content-center justify-items-center gap-3 overflow-y-auto p-6 text-center">
          <span className="text-primary">
            <Icon name="spark" size={40} />
          </span>
          <p className="text-xl font-bold">{t.chat.empty}</p>
          <p className="max-w-md text-muted-foreground">
            {demo ? t.chat.emptyDemo : t.chat.emptyText}
          </p>
          {!ready && (
            <Link to="/setup" className="button button-primary">
              {t.chat.fixSetup}
            </Link>
          )}
          {demo && (
            <div className="flex max-w-lg flex-wrap justify-center gap-2">
              {t.chat.suggestions.map((text) => (
                <button
                  key={text}
                  type="button"
                  className="button button-plain"
                  onClick={() => void begin({ text, attachments: [], whenBusy: "queue" })}
                >
                  {text}
                </button>
              ))}
            </div>
          )}
        </div>
      }
    >
      <NoteCard note={commands.note} onClose={commands.close} />
      <Composer sessionId={NEW} busy={false} stopping={false} onSend={send} onStop={() => {}} />
      <div className="min-h-6 px-2 text-xs text-muted-foreground">{setup.data?.model}</div>
    </Frame>
  );
}

export function ChatPage() {
  const { id } = useParams({ strict: false });
  return (
    <div className="flex h-full flex-col">
      <Title id={id ?? null} />
      {id === undefined ? <NewConversation /> : <Conversation key={id} sessionId={id} />}
    </div>
  );
}
