// Theme of the page: set on <html> before the first render; the choice stays in this browser.
import { useSyncExternalStore } from "react";

export const THEME_CHOICES = ["default", "daylight", "system"] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

const STORAGE_KEY = "hermes.theme";
const listeners = new Set<() => void>();

export function themeChoice(): ThemeChoice {
  const stored = localStorage.getItem(STORAGE_KEY);
  return THEME_CHOICES.find((choice) => choice === stored) ?? "default";
}

/** The theme that a choice means right now. */
export function resolveTheme(choice: ThemeChoice, systemIsLight: boolean): "default" | "daylight" {
  if (choice !== "system") return choice;
  return systemIsLight ? "daylight" : "default";
}

const light = () => matchMedia("(prefers-color-scheme: light)");

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = resolveTheme(themeChoice(), light().matches);
}

export function watchSystemTheme(): void {
  light().addEventListener("change", applyTheme);
}

export function setThemeChoice(choice: ThemeChoice): void {
  localStorage.setItem(STORAGE_KEY, choice);
  applyTheme();
  for (const listener of listeners) listener();
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, themeChoice);
}
