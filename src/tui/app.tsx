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
import { isRunning, type View } from "./view.ts";
import type { ViewStore } from "./view-store.ts";

const LEAST_COLUMNS = 40;
const LEAST_ROWS = 10;
/** Fewer, and a box has the screen for itself. */
const LEAST_FOR_ALL = 18;
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
  const room = roomFor(view, rows);
  const [question] = view.questions;
  return (
    <Colours value={colours}>
      <Transcript view={view} columns={columns} />
      <Box flexDirection="column" width={columns}>
        <LiveArea
          view={view}
          nowMs={performance.now()}
          frame={frame}
          rows={room.live}
          columns={columns}
        />
        {view.picker ? (
          <SessionPicker picker={view.picker} rows={room.box} columns={columns} />
        ) : question && room.box > 0 ? (
          <QuestionBox question={question} box={view.box} rows={room.box} columns={columns} />
        ) : null}
        {room.input > 0 ? (
          <InputBox
            editor={view.editor}
            candidates={view.candidates}
            columns={columns}
            rows={room.input}
            isIdle={room.box > 0}
          />
        ) : null}
        <StatusBar view={view} />
      </Box>
    </Colours>
  );
}

interface Room {
  readonly live: number;
  /** 0: no box is open. */
  readonly box: number;
  /** 0: there is none beside the box. */
  readonly input: number;
}

/** Shares the rows out. Together they stay below the terminal's height: Ink would have to clear it otherwise. */
function roomFor(view: View, rows: number): Room {
  const isOpen = view.picker !== null || (view.questions.length > 0 && !view.box.isClosed);
  // The status bar, and the row below that the cursor rests on.
  const free = rows - 2;
  if (!isOpen) {
    const input = Math.max(2, Math.floor(rows / 4));
    return { live: Math.min(MOST_LIVE_ROWS, Math.max(1, free - input - 1)), box: 0, input };
  }
  if (rows < LEAST_FOR_ALL) return { live: 0, box: free, input: 0 };
  return { live: 3, box: free - 6, input: 2 };
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
