// Lines across the top: the connection, and what an open port means.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { statusQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "../parts/icons.tsx";
import { socket } from "./services.ts";

const SHOW_AFTER_MS = 1000;

export function useLink() {
  return useSyncExternalStore(
    (listener) => socket.onState(listener),
    () => socket.state,
  );
}

function useSettled(lost: boolean): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    if (!lost) {
      setSettled(false);
      return;
    }
    const timer = setTimeout(() => setSettled(true), SHOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, [lost]);
  return settled;
}

export function Banners() {
  const { t } = useWords();
  const link = useLink();
  const shown = useSettled(link !== "open");
  const status = useQuery(statusQuery);
  const insecure = status.data?.auth_required === false && !isLoopback(location.hostname);
  return (
    <>
      {insecure && (
        <p className="flex items-center justify-center gap-2 bg-destructive px-3 py-1 text-center text-sm font-semibold text-destructive-foreground">
          <Icon name="warning" size={16} />
          {t.link.insecure}
        </p>
      )}
      <div role="status">
        {shown && link !== "open" && (
          <p
            data-testid="link-banner"
            className="flex flex-wrap items-center justify-center gap-2 border-b bg-secondary px-3 py-1 text-center text-sm text-secondary-foreground"
          >
            <Icon name="warning" size={16} />
            {link === "signed-out" ? t.link.signedOut : t.link[link]}
            {(link === "signed-out" || link === "stopped") && (
              <button type="button" className="underline" onClick={() => location.reload()}>
                {t.link.reload}
              </button>
            )}
          </p>
        )}
      </div>
    </>
  );
}

/** The name in the address bar is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
