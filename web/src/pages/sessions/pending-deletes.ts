// Deleting with an undo: a row disappears at once, the request goes out when the time to undo is over.
import { useSyncExternalStore } from "react";
import type { BulkDeleteInput, DeletedBody } from "#protocol/http-sessions.ts";
import { ApiError } from "../../api/error.ts";
import { client, queries } from "../../app/services.ts";
import { showToast } from "../../parts/toasts.tsx";

export const UNDO_MS = 5000;

let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function setHidden(next: ReadonlySet<string>): void {
  hidden = next;
  for (const listener of listeners) listener();
}

function show(ids: readonly string[]): void {
  setHidden(new Set([...hidden].filter((id) => !ids.includes(id))));
}

/** Ids that are on their way out. */
export function useHiddenSessions(): ReadonlySet<string> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hidden,
  );
}

async function remove(ids: readonly string[]): Promise<void> {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    const path = `/api/sessions/${encodeURIComponent(only)}`;
    await client.request("DELETE", path, { keepalive: true });
    return;
  }
  const json: BulkDeleteInput = { ids };
  const answer = await client.request<DeletedBody>("POST", "/api/sessions/bulk-delete", {
    json,
    keepalive: true,
  });
  for (const { id, reason } of answer.skipped) showToast(`${id}: ${reason}`, { tone: "error" });
}

export function deleteSessions(
  ids: readonly string[],
  words: { readonly said: string; readonly undo: string },
): void {
  setHidden(new Set([...hidden, ...ids]));
  let undone = false;
  const commit = async (): Promise<void> => {
    window.removeEventListener("pagehide", atOnce);
    if (undone) return;
    undone = true;
    try {
      await remove(ids);
    } catch (error) {
      showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" });
    }
    await queries.invalidateQueries({ queryKey: ["sessions"] });
    show(ids);
  };
  // Closing the page is no undo: what was announced as deleted is deleted.
  const atOnce = () => void commit();
  window.addEventListener("pagehide", atOnce);
  const timer = setTimeout(atOnce, UNDO_MS);
  showToast(words.said, {
    lifeMs: UNDO_MS,
    action: {
      label: words.undo,
      run: () => {
        undone = true;
        clearTimeout(timer);
        window.removeEventListener("pagehide", atOnce);
        show(ids);
      },
    },
  });
}
