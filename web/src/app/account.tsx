// Who is signed in, and the ways out: here, everywhere, one by one (dashboard.md §12.2). Gated mode only.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import type { LogoutBody, MeBody } from "#protocol/http-status.ts";
import { ApiError } from "../api/error.ts";
import { loginSessionsQuery, meQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { Failure, QueryView } from "../parts/states.tsx";
import { showToast } from "../parts/toasts.tsx";
import { boot, client } from "./services.ts";

function nameOf(me: MeBody): string {
  return me.display_name || me.email || me.user_id;
}

/** A login that is over already is what was asked for. */
async function endAll(): Promise<void> {
  try {
    await client.request("POST", "/auth/logout-all", { json: {} });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
}

function useLeave(everywhere: boolean) {
  const { t } = useWords();
  return useMutation({
    mutationFn: async () => {
      // The socket ends before the answer is here; that must not look like an expired login.
      client.setLeaving(true);
      if (everywhere) await endAll();
      const { login_url } = await client.request<LogoutBody>("POST", "/auth/logout", { json: {} });
      return login_url;
    },
    onSuccess: (loginUrl) => location.assign(loginUrl),
    onError: () => {
      client.setLeaving(false);
      showToast(t.account.failed, { tone: "error" });
    },
  });
}

export function Account() {
  const { t } = useWords();
  const me = useQuery(meQuery);
  const leave = useLeave(false);
  const leaveAll = useLeave(true);
  const [listed, setListed] = useState(false);
  if (!boot.authRequired || me.data === undefined) return null;
  const name = nameOf(me.data);
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger
          className="flex w-full min-h-9 items-center gap-2.5 rounded-(--radius) px-2.5 py-1.5 text-start text-sm hover:bg-accent hover:text-accent-foreground pointer-coarse:min-h-11"
          data-testid="account"
        >
          <Icon name="account" />
          <span className="grid min-w-0">
            <span className="truncate font-semibold">{name}</span>
            <span className="truncate text-xs">{t.account.via(me.data.provider)}</span>
          </span>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" sideOffset={4} align="start">
            <DropdownMenu.Item className="menu-item" onSelect={() => setListed(true)}>
              {t.account.sessions}
            </DropdownMenu.Item>
            <DropdownMenu.Item className="menu-item" onSelect={() => leave.mutate()}>
              {t.account.signOut}
            </DropdownMenu.Item>
            <DropdownMenu.Item className="menu-item" onSelect={() => leaveAll.mutate()}>
              {t.account.signOutEverywhere}
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {listed && <LoginSessions onClose={() => setListed(false)} />}
    </>
  );
}

function LoginSessions({ onClose }: { readonly onClose: () => void }) {
  const { t, format } = useWords();
  const cache = useQueryClient();
  const sessions = useQuery(loginSessionsQuery);
  const end = useMutation({
    mutationFn: (id: string) => client.request("DELETE", `/api/auth/sessions/${id}`),
    onSettled: () => cache.invalidateQueries({ queryKey: loginSessionsQuery.queryKey }),
  });
  return (
    <Dialog title={t.account.sessions} onClose={onClose}>
      {end.isError && <Failure error={end.error} />}
      <QueryView query={sessions}>
        {(data) => (
          <ul className="grid gap-2">
            {data.sessions.map((session) => (
              <li key={session.id} className="card flex items-center gap-3 p-3">
                <div className="grid min-w-0 flex-1 text-sm">
                  <span className="truncate font-semibold">
                    {session.user_agent || session.kind}
                  </span>
                  <span className="text-muted-foreground">
                    {session.ip} · {t.account.lastSeen(format.dateTime(session.last_seen_at))}
                  </span>
                </div>
                {session.current ? (
                  <span className="text-sm text-muted-foreground">{t.account.current}</span>
                ) : (
                  <button
                    type="button"
                    className="button button-plain"
                    aria-label={t.account.endOf(session.user_agent || session.kind)}
                    onClick={() => end.mutate(session.id)}
                  >
                    {t.account.end}
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </Dialog>
  );
}
