// The themes that the server knows, and the one that is chosen: here at once, there for the next browser.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { ThemesBody } from "#protocol/http-status.ts";
import { ApiError } from "../api/error.ts";
import { themesQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { showToast } from "../parts/toasts.tsx";
import { client } from "./services.ts";
import { hasChoice, setTheme, SYSTEM, themeChoice } from "./theme.ts";

type ThemeRow = ThemesBody["themes"][number];

/** As long as the server has not answered: what every server has. */
const ALWAYS: readonly ThemeRow[] = [
  { name: "default", label: "Hermes Teal", description: "" },
  { name: "daylight", label: "Daylight", description: "" },
];

export interface Themes {
  readonly themes: readonly ThemeRow[];
  readonly labelOf: (name: string) => string;
  /** Also `system`. */
  readonly choose: (name: string) => void;
}

export function useThemes(): Themes {
  const { t } = useWords();
  const { data } = useQuery(themesQuery);
  const themes = data?.themes ?? ALWAYS;
  useEffect(() => {
    if (data) follow(data);
  }, [data]);
  return {
    themes,
    labelOf(name) {
      if (name === SYSTEM || name === "default" || name === "daylight") return t.app.themes[name];
      return themes.find((theme) => theme.name === name)?.label ?? name;
    },
    choose(name) {
      const theme = themes.find((entry) => entry.name === name);
      if (!theme && name !== SYSTEM) return;
      setTheme(theme ?? { name });
      if (theme) keep(name);
    },
  };
}

/** A first visit takes the server's choice; a user's theme that was edited or taken away is drawn as it is now. */
function follow({ themes, active }: ThemesBody): void {
  const name = hasChoice() ? themeChoice() : active;
  if (name === SYSTEM || (!hasChoice() && name === "default")) return;
  const theme = themes.find((entry) => entry.name === name);
  if (!theme) setTheme({ name: "default" });
  else if (theme.definition !== undefined || !hasChoice()) setTheme(theme);
}

function keep(name: string): void {
  client.request("PUT", "/api/dashboard/theme", { json: { name } }).catch((error: unknown) => {
    showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" });
  });
}
