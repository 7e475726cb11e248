// Drafts and unsent texts per session, kept in the browser: a reload or a lost connection loses nothing.
import type { SendMessageInput } from "#protocol/http-chat.ts";

export type Unsent = Omit<SendMessageInput, "client_message_id"> & { readonly clientId: string };

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const outboxKey = (sessionId: string) => `hermes.outbox.${sessionId}`;
const draftKey = (sessionId: string) => `hermes.draft.${sessionId}`;

export interface OutboxStore {
  read(sessionId: string): readonly Unsent[];
  add(sessionId: string, entry: Unsent): void;
  replace(sessionId: string, entry: Unsent): void;
  remove(sessionId: string, clientId: string): void;
}

function isUnsent(value: unknown): value is Unsent {
  if (typeof value !== "object" || value === null) return false;
  const entry = value as Record<string, unknown>;
  return typeof entry["clientId"] === "string" && typeof entry["text"] === "string";
}

export function createOutbox(box: Box): OutboxStore {
  function read(sessionId: string): readonly Unsent[] {
    try {
      const value: unknown = JSON.parse(box.getItem(outboxKey(sessionId)) ?? "[]");
      return Array.isArray(value) ? value.filter(isUnsent) : [];
    } catch {
      return [];
    }
  }

  function write(sessionId: string, entries: readonly Unsent[]): void {
    if (entries.length === 0) box.removeItem(outboxKey(sessionId));
    else box.setItem(outboxKey(sessionId), JSON.stringify(entries));
  }

  return {
    read,
    add: (sessionId, entry) => write(sessionId, [...read(sessionId), entry]),
    replace: (sessionId, entry) =>
      write(
        sessionId,
        read(sessionId).map((known) => (known.clientId === entry.clientId ? entry : known)),
      ),
    remove: (sessionId, clientId) =>
      write(
        sessionId,
        read(sessionId).filter((entry) => entry.clientId !== clientId),
      ),
  };
}

/** `new` stands for the conversation that has no id yet. */
export function readDraft(box: Box, sessionId: string): string {
  return box.getItem(draftKey(sessionId)) ?? "";
}

export function writeDraft(box: Box, sessionId: string, text: string): void {
  if (text === "") box.removeItem(draftKey(sessionId));
  else box.setItem(draftKey(sessionId), text);
}
