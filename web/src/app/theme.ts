// Theme of the page: set on <html> before the first render, so that nothing flashes. The choice, and the definition of a user's
// theme with it, lie in this browser; other tabs follow at once (dashboard.md §12.5).
import { useSyncExternalStore } from "react";
import type { ThemeDefinition } from "#protocol/theme.ts";
import { themeProperties } from "./theme-properties.ts";

export interface Theme {
  readonly name: string;
  /** Only of a user's theme. */
  readonly definition?: ThemeDefinition;
}

/** Follows the system: Hermes Teal or Daylight. */
export const SYSTEM = "system";
const CHOICE_KEY = "hermes.theme";
const DEFINITION_KEY = "hermes.themeDefinition";
const listeners = new Set<() => void>();
const light = () => matchMedia("(prefers-color-scheme: light)");
/** Names of the properties that the theme before has set. */
let ours: readonly string[] = [];

/** null: nothing was chosen in this browser yet. */
function storedChoice(): string | null {
  return localStorage.getItem(CHOICE_KEY);
}

export const themeChoice = (): string => storedChoice() ?? "default";
export const hasChoice = (): boolean => storedChoice() !== null;

/** What lies in this browser is no more trusted than any other text. */
function storedTheme(): Theme {
  const name = themeChoice();
  try {
    const kept = JSON.parse(localStorage.getItem(DEFINITION_KEY) ?? "null") as Theme | null;
    if (kept?.name === name && kept.definition) return kept;
  } catch {
    // Then the name alone says what can be said.
  }
  return { name };
}

export function applyTheme(): void {
  draw(storedTheme());
}

function draw({ name, definition }: Theme): void {
  const root = document.documentElement;
  for (const property of ours) root.style.removeProperty(property);
  ours = [];
  document.adoptedStyleSheets = [];
  document.querySelector("link[data-theme-font]")?.remove();
  delete root.dataset["layoutVariant"];
  if (definition === undefined) {
    root.dataset["theme"] = name === SYSTEM ? systemTheme() : name;
    return;
  }
  try {
    drawDefinition(root, definition);
  } catch {
    // A definition of another version, or one that somebody edited here: the page must stay usable.
    root.dataset["theme"] = "default";
  }
}

const systemTheme = (): string => (light().matches ? "daylight" : "default");

function drawDefinition(root: HTMLElement, definition: ThemeDefinition): void {
  const { base, values, variant } = themeProperties(definition);
  root.dataset["theme"] = base;
  root.dataset["layoutVariant"] = variant;
  const known = values.filter(([name, value]) => isKnown(name, value));
  for (const [name, value] of known) root.style.setProperty(name, value);
  ours = known.map(([name]) => name);
  const { fontUrl } = definition.typography;
  if (fontUrl !== undefined) {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = fontUrl;
    link.dataset["themeFont"] = "";
    document.head.append(link);
  }
  if (definition.customCSS === undefined) return;
  const sheet = new CSSStyleSheet();
  // @import has no effect here, and the policy of the page stops whatever a url() would fetch elsewhere.
  sheet.replaceSync(definition.customCSS);
  document.adoptedStyleSheets = [sheet];
}

function isKnown(name: string, value: string): boolean {
  return CSS.supports(name.startsWith("--color-") ? "color" : name, value);
}

export function watchTheme(): void {
  light().addEventListener("change", applyTheme);
  addEventListener("storage", ({ key }) => {
    if (key !== CHOICE_KEY && key !== DEFINITION_KEY && key !== null) return;
    applyTheme();
    for (const listener of listeners) listener();
  });
}

/** Drawn, and kept for the next page load of this browser. */
export function setTheme(theme: Theme): void {
  if (theme.definition === undefined) localStorage.removeItem(DEFINITION_KEY);
  else localStorage.setItem(DEFINITION_KEY, JSON.stringify(theme));
  localStorage.setItem(CHOICE_KEY, theme.name);
  draw(theme);
  for (const listener of listeners) listener();
}

export function useThemeChoice(): string {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, themeChoice);
}
