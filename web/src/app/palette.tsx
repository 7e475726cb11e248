// Command palette (Ctrl/⌘ K): pages, conversations and actions by a few letters.
import { useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { Dialog } from "radix-ui";
import { useState, type KeyboardEvent } from "react";
import { sessionsQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { NAV } from "./nav.ts";
import { SYSTEM } from "./theme.ts";
import { useThemes } from "./themes.ts";

interface Entry {
  readonly key: string;
  readonly group: string;
  readonly label: string;
  readonly icon: IconName;
  readonly run: () => void;
}

function useEntries(): readonly Entry[] {
  const { t } = useWords();
  const navigate = useNavigate();
  const sessions = useQuery(sessionsQuery({ limit: 100 }));
  const { themes, labelOf, choose } = useThemes();
  const { pages, actions, conversations } = t.app;
  return [
    ...NAV.map(({ to, label, icon }) => ({
      key: to,
      group: pages,
      label: t.nav[label],
      icon,
      run: () => void navigate({ to }),
    })),
    {
      key: "setup",
      group: pages,
      label: t.nav.setup,
      icon: "flask",
      run: () => void navigate({ to: "/setup" }),
    },
    {
      key: "new",
      group: actions,
      label: t.chat.newChat,
      icon: "plus",
      run: () => void navigate({ to: "/chat" }),
    },
    ...[...themes.map(({ name }) => name), SYSTEM].map((name): Entry => ({
      key: `theme-${name}`,
      group: actions,
      label: `${t.app.theme}: ${labelOf(name)}`,
      icon: "sun",
      run: () => choose(name),
    })),
    ...(sessions.data?.sessions ?? []).map((row): Entry => ({
      key: row.id,
      group: conversations,
      label: row.title ?? row.id,
      icon: "chat",
      run: () => void navigate({ to: "/chat/$id", params: { id: row.id } }),
    })),
  ];
}

/** Every word of the query must occur in the label. */
function matches(label: string, query: string): boolean {
  const text = label.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const { t } = useWords();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const entries = useEntries();
  const found = entries.filter((entry) => matches(entry.label, query)).slice(0, 40);
  const current = Math.min(at, Math.max(0, found.length - 1));

  function choose(entry: Entry | undefined): void {
    if (!entry) return;
    onClose();
    entry.run();
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown") setAt(Math.min(current + 1, found.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, current - 1));
    else if (event.key === "Enter") choose(found[current]);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="menu fixed start-1/2 top-[12vh] z-50 w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 p-0"
        >
          <Dialog.Title className="sr-only">{t.app.palette}</Dialog.Title>
          <div className="flex items-center gap-2 border-b px-3">
            <Icon name="search" />
            <input
              className="min-h-12 w-full bg-transparent outline-none"
              role="combobox"
              aria-expanded
              aria-controls="palette-list"
              aria-activedescendant={found[current] ? `palette-${current}` : undefined}
              aria-label={t.app.paletteHint}
              placeholder={t.app.paletteHint}
              value={query}
              onChange={(event) => {
                setQuery(event.target.value);
                setAt(0);
              }}
              onKeyDown={onKey}
            />
          </div>
          <ul
            id="palette-list"
            role="listbox"
            aria-label={t.app.palette}
            className="max-h-[55vh] overflow-y-auto p-1.5"
          >
            {found.map((entry, index) => (
              <li
                key={entry.key}
                id={`palette-${index}`}
                role="option"
                aria-selected={index === current}
                className="menu-item"
                onMouseMove={() => setAt(index)}
                onClick={() => choose(entry)}
                ref={(node) => {
                  if (index === current) node?.scrollIntoView({ block: "nearest" });
                }}
              >
                <Icon name={entry.icon} />
                <span className="truncate">{entry.label}</span>
                <span className="ms-auto text-xs text-muted-foreground">{entry.group}</span>
              </li>
            ))}
          </ul>
          {found.length === 0 && (
            <p className="px-4 pb-4 text-muted-foreground">{t.app.paletteEmpty}</p>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
