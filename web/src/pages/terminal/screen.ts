// xterm.js as this page uses it: colours of the theme, a size that follows its box, nothing that a program could make it do.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal, type ITheme } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Size } from "./pty-link.ts";

export interface ScreenListener {
  onText(text: string): void;
  onBytes(bytes: Uint8Array<ArrayBuffer>): void;
  onSize(size: Size): void;
  /** Alt+Shift+T: the keyboard goes back to the page. */
  onLeave(): void;
  /** More waits to be drawn than anybody could have read. */
  onFlood(): void;
}

export interface Screen {
  readonly size: Size;
  show(bytes: Uint8Array): void;
  clear(): void;
  focus(): void;
  setScreenReader(on: boolean): void;
  close(): void;
}

const MOST_WAITING_BYTES = 8 * 1024 * 1024;

export function openScreen(
  box: HTMLElement,
  options: { readonly label: string; readonly screenReader: boolean },
  listener: ScreenListener,
): Screen {
  const terminal = new Terminal({
    theme: themeOf(box),
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--font-mono"),
    fontSize: 14,
    minimumContrastRatio: 4.5,
    scrollback: 5000,
    screenReaderMode: options.screenReader,
    // A program's links lead nowhere: their text need not say where.
    linkHandler: { activate: () => undefined },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(box);
  terminal.textarea?.setAttribute("aria-label", options.label);
  terminal.onData((text) => listener.onText(text));
  terminal.onBinary((text) => listener.onBytes(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  terminal.attachCustomKeyEventHandler((event) => {
    if (!event.altKey || !event.shiftKey || event.code !== "KeyT") return true;
    if (event.type === "keydown") listener.onLeave();
    event.preventDefault();
    return false;
  });
  fit.fit();
  // From here on: the first size is asked for by whoever opens the screen.
  terminal.onResize((size) => listener.onSize(size));
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(box);
  const stopWatching = watchTheme(() => {
    terminal.options.theme = themeOf(box);
  });
  let waitingBytes = 0;
  return {
    get size() {
      return { cols: terminal.cols, rows: terminal.rows };
    },
    show(bytes) {
      waitingBytes += bytes.length;
      terminal.write(bytes, () => {
        waitingBytes -= bytes.length;
      });
      if (waitingBytes > MOST_WAITING_BYTES) listener.onFlood();
    },
    clear: () => terminal.reset(),
    focus: () => terminal.focus(),
    setScreenReader(on) {
      terminal.options.screenReaderMode = on;
    },
    close() {
      observer.disconnect();
      stopWatching();
      terminal.dispose();
    },
  };
}

/** Colours as the box has them; xterm takes no others than opaque ones, and draws its own where it cannot. */
function themeOf(box: HTMLElement): ITheme {
  const { backgroundColor, color } = getComputedStyle(box);
  const isOpaque = (value: string): boolean => value.startsWith("rgb(");
  if (!isOpaque(backgroundColor) || !isOpaque(color)) return {};
  return {
    background: backgroundColor,
    foreground: color,
    cursor: color,
    cursorAccent: backgroundColor,
    selectionBackground: color.replace("rgb(", "rgba(").replace(")", ", 0.3)"),
  };
}

/** A theme is attributes of the root element: its name, and the values that it sets. */
function watchTheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true });
  return () => observer.disconnect();
}
