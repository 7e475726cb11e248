// Short notes at the edge of the page, some with an undo. Errors that need a decision never live here alone.
import { useSyncExternalStore } from "react";
import { announce } from "../app/announce.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "./icons.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "info" | "error";
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function close(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

export interface ToastOptions {
  readonly tone?: Toast["tone"];
  readonly action?: NonNullable<Toast["action"]>;
  readonly lifeMs?: number;
}

/** Shows a note and says it; returns how to take it away early. */
export function showToast(text: string, options: ToastOptions = {}): () => void {
  const id = nextId;
  nextId += 1;
  set([...toasts, { id, text, tone: options.tone ?? "info", action: options.action ?? null }]);
  announce(text);
  const timer = setTimeout(() => close(id), options.lifeMs ?? 5000);
  return () => {
    clearTimeout(timer);
    close(id);
  };
}

export function Toasts() {
  const { t } = useWords();
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="pointer-events-none fixed inset-x-3 bottom-4 z-50 grid justify-items-center gap-2">
      {shown.map((toast) => (
        <div
          key={toast.id}
          data-testid="toast"
          className={`menu pointer-events-auto flex max-w-lg items-center gap-3 px-3 py-1.5 ${toast.tone === "error" ? "border-destructive" : ""}`}
        >
          <span>{toast.text}</span>
          {toast.action && (
            <button
              type="button"
              className="button button-ghost underline"
              onClick={() => {
                toast.action?.run();
                close(toast.id);
              }}
            >
              {toast.action.label}
            </button>
          )}
          <button
            type="button"
            className="icon-button"
            aria-label={t.common.close}
            onClick={() => close(toast.id)}
          >
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
    </div>
  );
}
