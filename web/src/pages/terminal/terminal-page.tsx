// The terminal: Hermes itself in the browser (dashboard.md §12.3).
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { announce } from "../../app/announce.ts";
import { setTerminalOff } from "../../app/terminal-off.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { useTitle } from "../../parts/page.tsx";
import { openLink } from "./open-link.ts";
import type { PtyLink, PtyState } from "./pty-link.ts";
import { openScreen, type Screen } from "./screen.ts";

const SCREEN_READER_KEY = "hermes.terminal.screenReader";

interface Parts {
  readonly screen: Screen;
  readonly link: PtyLink;
}

/** The screen and its connection live as long as the page shows this session. */
function useTerminal(resume: string | undefined, screenReader: boolean, onLeave: () => void) {
  const { t } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const parts = useRef<Parts | null>(null);
  const [state, setState] = useState<PtyState>({ kind: "connecting" });
  const { screen: label } = t.terminal;
  useEffect(() => {
    if (!box.current) return undefined;
    const screen = openScreen(
      box.current,
      { label, screenReader },
      {
        onText: (text) => link.type(text),
        onBytes: (bytes) => link.bytes(bytes),
        onSize: (size) => link.resize(size),
        onLeave,
        onFlood: () => link.connect(),
      },
    );
    const link = openLink(resume ?? null, screen.size, {
      onState: setState,
      onFresh: () => screen.clear(),
      onBytes: (bytes) => screen.show(bytes),
    });
    parts.current = { screen, link };
    link.connect();
    screen.focus();
    const nudge = () => {
      if (document.visibilityState === "visible") link.nudge();
    };
    window.addEventListener("online", nudge);
    document.addEventListener("visibilitychange", nudge);
    return () => {
      window.removeEventListener("online", nudge);
      document.removeEventListener("visibilitychange", nudge);
      parts.current = null;
      link.stop();
      screen.close();
    };
    // The other values are handed over below; a change of theirs must not end the program.
  }, [resume]);
  useEffect(() => parts.current?.screen.setScreenReader(screenReader), [screenReader]);
  const connect = () => {
    parts.current?.link.connect();
    parts.current?.screen.focus();
  };
  return { box, state, connect };
}

function useStateText(state: PtyState): string {
  const { t } = useWords();
  const text =
    state.kind === "ended" ? t.terminal.ended(state.exitCode) : t.terminal.states[state.kind];
  const last = useRef(text);
  useEffect(() => {
    if (last.current === text) return;
    last.current = text;
    announce(text);
  }, [text]);
  return text;
}

/** What stands over the screen when there is something to decide. */
function Notice(props: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <div className="absolute inset-0 z-10 grid place-items-center bg-scrim p-4">
      <div role="alert" className="card grid max-w-md gap-3 bg-popover p-4 text-popover-foreground">
        <p className="font-semibold">{props.text}</p>
        {props.children}
      </div>
    </div>
  );
}

function Overlay(props: { readonly state: PtyState; readonly onConnect: () => void }) {
  const { t } = useWords();
  const { state } = props;
  const button = (label: string) => (
    <div>
      <button type="button" className="button button-primary" onClick={props.onConnect}>
        {label}
      </button>
    </div>
  );
  const { states } = t.terminal;
  switch (state.kind) {
    case "connecting":
    case "open":
    case "waiting":
      return null;
    case "ended":
      return <Notice text={t.terminal.ended(state.exitCode)}>{button(t.terminal.restart)}</Notice>;
    case "taken":
      return <Notice text={states.taken}>{button(t.terminal.takeBack)}</Notice>;
    case "off":
      return (
        <Notice text={states.off}>
          <p>{t.terminal.offText}</p>
        </Notice>
      );
    case "signed-out":
      return <Notice text={states["signed-out"]}>{button(t.terminal.retry)}</Notice>;
    case "full":
    case "failed":
      return (
        <Notice text={states[state.kind]}>
          <p className="wrap-anywhere">{state.reason}</p>
          {button(t.terminal.retry)}
        </Notice>
      );
  }
}

export function TerminalPage() {
  const { t } = useWords();
  const { resume } = useSearch({ from: "/terminal" });
  const exit = useRef<HTMLButtonElement>(null);
  const [screenReader, setScreenReader] = useState(
    () => localStorage.getItem(SCREEN_READER_KEY) === "1",
  );
  useTitle(t.terminal.title);
  const { box, state, connect } = useTerminal(resume, screenReader, () => {
    exit.current?.focus();
    announce(t.terminal.left);
  });
  const text = useStateText(state);
  useEffect(() => setTerminalOff(state.kind === "off"), [state.kind]);
  const toggle = () => {
    localStorage.setItem(SCREEN_READER_KEY, screenReader ? "0" : "1");
    setScreenReader(!screenReader);
  };
  return (
    <div className="flex h-full flex-col gap-2 px-3 py-3 sm:px-4" data-page>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="text-xl font-bold tracking-tight">{t.terminal.title}</h1>
        <p className="text-sm text-muted-foreground" data-testid="terminal-state">
          {text}
        </p>
        <div className="ms-auto flex flex-wrap items-center gap-x-4 gap-y-2">
          <p className="text-sm text-muted-foreground">{t.terminal.leave}</p>
          <button
            ref={exit}
            type="button"
            className={`button ${screenReader ? "button-primary" : "button-plain"}`}
            aria-pressed={screenReader}
            onClick={toggle}
          >
            <Icon name="info" size={16} />
            {t.terminal.screenReader}
          </button>
        </div>
      </div>
      <div
        role="region"
        aria-label={t.terminal.title}
        className="relative min-h-0 flex-1 overflow-hidden rounded-(--radius) border bg-background p-2"
      >
        <div
          ref={box}
          data-testid="terminal"
          className="h-full w-full overflow-hidden bg-background text-foreground"
        />
        <Overlay state={state} onConnect={connect} />
      </div>
    </div>
  );
}
