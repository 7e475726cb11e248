// The frame around every page: navigation, recent conversations, service strip, banners.
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { sessionsQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "../parts/icons.tsx";
import { Toasts } from "../parts/toasts.tsx";
import { Banners } from "./banners.tsx";
import { Drawer } from "./drawer.tsx";
import { NAV } from "./nav.ts";
import { useTerminalOff } from "./terminal-off.ts";

const Palette = lazy(() => import("./palette.tsx"));
const SideFoot = lazy(() => import("./side-foot.tsx"));
const ProfileSwitch = lazy(() => import("./profile-switch.tsx"));

function Brand() {
  return (
    <Link to="/chat" className="flex items-center gap-2.5 px-2 text-lg font-bold tracking-tight">
      <svg aria-hidden="true" width="26" height="26" viewBox="0 0 32 32">
        <rect width="32" height="32" rx="8" fill="var(--color-primary)" />
        <path
          d="M10 8v16M22 8v16M10 16h12"
          stroke="var(--color-primary-foreground)"
          strokeWidth="3.4"
          strokeLinecap="round"
          fill="none"
        />
      </svg>
      Hermes
    </Link>
  );
}

const LINK =
  "flex min-h-9 items-center gap-3 rounded-(--radius) px-2.5 py-1.5 hover:bg-accent hover:text-accent-foreground pointer-coarse:min-h-11";
const ACTIVE = { className: "bg-accent text-accent-foreground font-semibold" };

function Navigation() {
  const { t } = useWords();
  const terminalOff = useTerminalOff();
  return (
    <nav aria-label={t.app.navigation}>
      <ul className="grid gap-0.5">
        {NAV.filter(({ to }) => to !== "/terminal" || !terminalOff).map((entry) => (
          <li key={entry.to}>
            <Link to={entry.to} className={LINK} activeProps={ACTIVE}>
              <Icon name={entry.icon} />
              {t.nav[entry.label]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Recent() {
  const { t } = useWords();
  const recent = useQuery(sessionsQuery({ limit: 12, archived: false }));
  const rows = recent.data?.sessions ?? [];
  if (rows.length === 0) return null;
  return (
    <nav aria-label={t.app.recent} className="min-h-0 flex-1 overflow-y-auto">
      <p className="px-2.5 pb-1 text-xs font-semibold text-muted-foreground">{t.app.recent}</p>
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <Link
              to="/chat/$id"
              params={{ id: row.id }}
              className={`${LINK} text-sm`}
              activeProps={ACTIVE}
            >
              <span className="truncate">{row.title ?? t.chat.newChat}</span>
              {row.state === "running" && (
                <span className="dot-pulse ms-auto text-success">
                  <Icon name="dot" size={14} />
                  <span className="sr-only">{t.sessions.live}</span>
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Sidebar({ onPalette }: { readonly onPalette: () => void }) {
  const { t } = useWords();
  return (
    <div className="flex h-full flex-col gap-4 bg-card px-3 py-4 text-card-foreground">
      <Brand />
      <div className="flex gap-2">
        <Link to="/chat" className="button button-plain flex-1" activeOptions={{ exact: true }}>
          <Icon name="plus" />
          {t.chat.newChat}
        </Link>
        <button
          type="button"
          className="icon-button"
          aria-label={t.app.palette}
          aria-keyshortcuts="Control+K Meta+K"
          title={`${t.app.palette} (Ctrl K)`}
          onClick={onPalette}
        >
          <Icon name="search" />
        </button>
      </div>
      <Suspense>
        <ProfileSwitch />
      </Suspense>
      <Navigation />
      <Recent />
      <div className="mt-auto grid gap-2 border-t pt-3">
        <Suspense fallback={<div className="h-32" />}>
          <SideFoot />
        </Suspense>
      </div>
    </div>
  );
}

/** After a change of page the reader starts at the new content, not at the old link. */
function useFocusOnNavigation(path: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    if (document.activeElement?.closest("[data-composer]")) return;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}

function useShortcut(open: () => void): void {
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, [open]);
}

export function Shell() {
  const { t } = useWords();
  const { pathname } = useLocation();
  const main = useFocusOnNavigation(pathname);
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  useShortcut(() => setPalette(true));
  useEffect(() => setDrawer(false), [pathname]);
  return (
    <div className="flex h-dvh flex-col">
      <a
        href="#main"
        className="button button-primary fixed start-2 top-2 z-50 -translate-y-20 focus:translate-y-0"
      >
        {t.app.skip}
      </a>
      <Banners />
      <div className="flex min-h-0 flex-1">
        <aside className="hidden w-64 shrink-0 border-e lg:block">
          <Sidebar onPalette={() => setPalette(true)} />
        </aside>
        <div className="flex min-w-0 flex-1 flex-col">
          <header className="flex items-center gap-2 border-b bg-card px-2 py-1.5 lg:hidden">
            <button
              type="button"
              className="icon-button"
              aria-label={t.app.menu}
              aria-expanded={drawer}
              onClick={() => setDrawer(true)}
            >
              <Icon name="menu" size={22} />
            </button>
            <Brand />
          </header>
          <main id="main" ref={main} tabIndex={-1} className="min-h-0 flex-1">
            <Outlet />
          </main>
        </div>
      </div>
      <Toasts />
      {drawer && (
        <Drawer onClose={() => setDrawer(false)}>
          <Sidebar
            onPalette={() => {
              setDrawer(false);
              setPalette(true);
            }}
          />
        </Drawer>
      )}
      {palette && (
        <Suspense>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      )}
    </div>
  );
}
