// The screen: transcript above, then what is live, the box or the input, the status bar.
import { Box, Text, useApp, useInput, usePaste, useWindowSize } from "ink";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { Controller } from "./controller.ts";
import { InputBox } from "./input-box.tsx";
import { keysOf, keysOfPaste } from "./keys.ts";
import { LiveArea } from "./live-area.tsx";
import { QuestionBox } from "./question-box.tsx";
import { SessionPicker } from "./session-picker.tsx";
import { StatusBar } from "./status-bar.tsx";
import type { Terminal } from "./terminal.ts";
import { Colours } from "./tone.tsx";
import { Transcript } from "./transcript.tsx";
import { isRunning } from "./view.ts";
import type { ViewStore } from "./view-store.ts";

const LEAST_COLUMNS = 40;
const LEAST_ROWS = 10;
const TICK_MS = 120;
const MOST_LIVE_ROWS = 200;

interface AppProps {
  readonly store: ViewStore;
  readonly controller: Controller;
  readonly terminal: Pick<Terminal, "hold">;
  readonly colours: boolean;
}

export function App({ store, controller, terminal, colours }: AppProps) {
  const view = useSyncExternalStore(store.subscribe, store.view);
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  useEffect(() => terminal.hold(suspendTerminal), [terminal, suspendTerminal]);
  useInput((input, key) => controller.keys(keysOf(input, key)));
  usePaste((text) => controller.keys(keysOfPaste(text)));
  const frame = useTicks(isRunning(view));
  if (view.phase === "leaving") return <Transcript view={view} columns={columns} />;
  if (columns < LEAST_COLUMNS || rows < LEAST_ROWS) {
    return <Text wrap="truncate-end">{`${columns}×${rows} is too small: 40×10 is needed`}</Text>;
  }
  const [question] = view.questions;
  const isAsking = question !== undefined && !view.box.isClosed;
  // Input, status bar and the row that Ink keeps below; the rest is for what changes.
  const free = Math.min(MOST_LIVE_ROWS, rows - 4);
  const forBox = isAsking || view.picker ? Math.max(6, free - 3) : 0;
  const forLive = Math.max(1, free - forBox);
  return (
    <Colours value={colours}>
      <Transcript view={view} columns={columns} />
      <Box flexDirection="column" width={columns}>
        <LiveArea
          view={view}
          nowMs={performance.now()}
          frame={frame}
          rows={forLive}
          columns={columns}
        />
        {view.picker ? (
          <SessionPicker picker={view.picker} rows={forBox} columns={columns} />
        ) : isAsking ? (
          <QuestionBox
            question={question}
            box={view.box}
            rows={Math.max(1, forBox - 6)}
            columns={columns}
          />
        ) : null}
        <InputBox
          editor={view.editor}
          candidates={view.candidates}
          columns={columns}
          rows={Math.max(1, Math.floor(rows / 3))}
          isIdle={isAsking || view.picker !== null}
        />
        <StatusBar view={view} />
      </Box>
    </Colours>
  );
}

/** Counts up while something runs, so that spinner and seconds move. */
function useTicks(isOn: boolean): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => setTicks((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isOn]);
  return ticks;
}
