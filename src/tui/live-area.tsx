// What still changes: the end of the answer, running tools, the todo list, waiting messages.
import { Box, Text } from "ink";
import { oneLine } from "./shown-text.ts";
import { spinner, ToolCard } from "./tool-card.tsx";
import { Toned } from "./tone.tsx";
import { isRunning, type Live, type Todo, type View } from "./view.ts";

const MOST_CALLS = 6;
const MOST_TODOS = 6;

interface LiveAreaProps {
  readonly view: View;
  readonly nowMs: number;
  readonly frame: number;
  /** Rows that it may take. */
  readonly rows: number;
  readonly columns: number;
}

export function LiveArea({ view, nowMs, frame, rows, columns }: LiveAreaProps) {
  const { live } = view;
  const isWorking = isRunning(view);
  if (rows === 0) return null;
  if (!isWorking && live.queue.length === 0 && live.text === "" && live.calls.length === 0)
    return null;
  const calls = view.toolProgress === "off" ? [] : live.calls.slice(-MOST_CALLS);
  const perCall = calls.length === 0 ? 0 : Math.max(1, Math.floor(rows / 2 / calls.length) - 1);
  return (
    <Box flexDirection="column" maxHeight={rows} overflow="hidden" justifyContent="flex-end">
      {view.showReasoning && live.reasoning !== "" ? (
        <Box flexShrink={0}>
          <Toned tone="dim">{lastLines(live.reasoning, 4, columns)}</Toned>
        </Box>
      ) : null}
      {live.text === "" ? null : (
        <Box flexShrink={0}>
          <Text>{lastLines(live.text, rows, columns)}</Text>
        </Box>
      )}
      {calls.map((call) => (
        <Box key={call.callId} flexShrink={0}>
          <ToolCard
            call={call}
            isUnfolded={view.isUnfolded || view.toolProgress === "verbose"}
            nowMs={nowMs}
            frame={frame}
            lines={perCall}
          />
        </Box>
      ))}
      {rows >= 12 ? <Todos todos={live.todos} /> : null}
      {live.queue.map((item) => (
        <Box key={item.id} flexShrink={0}>
          <Toned tone="dim" wrap="truncate-end">{`⧗ ${oneLine(item.text, 200)}`}</Toned>
        </Box>
      ))}
      {isWorking ? (
        <Box flexShrink={0}>
          <Working live={live} nowMs={nowMs} frame={frame} />
        </Box>
      ) : null}
    </Box>
  );
}

function Working({
  live,
  nowMs,
  frame,
}: {
  readonly live: Live;
  readonly nowMs: number;
  readonly frame: number;
}) {
  const seconds = live.isRunning ? Math.max(0, Math.floor((nowMs - live.startedAtMs) / 1000)) : 0;
  const detail = live.detail === "" ? "" : ` (${live.detail})`;
  const what = live.isRunning ? `${live.state}${detail}` : "running";
  return (
    <Text wrap="truncate-end">
      <Toned tone="cyan">{spinner(frame)}</Toned>
      <Toned tone="dim">{` ${what} ${seconds} s · Ctrl-C interrupts`}</Toned>
    </Text>
  );
}

const MARKS: Readonly<Record<string, string>> = {
  completed: "☑",
  in_progress: "▸",
  cancelled: "☒",
};

function Todos({ todos }: { readonly todos: readonly Todo[] }) {
  const open = todos.findIndex(
    (todo) => todo.status !== "completed" && todo.status !== "cancelled",
  );
  const from = Math.max(
    0,
    Math.min(open === -1 ? todos.length : open - 1, todos.length - MOST_TODOS),
  );
  return todos.slice(from, from + MOST_TODOS).map((todo) => (
    <Box key={todo.id} flexShrink={0}>
      <Toned tone={todo.status === "in_progress" ? "yellow" : "dim"} wrap="truncate-end">
        {`${MARKS[todo.status] ?? "☐"} ${todo.content}`}
      </Toned>
    </Box>
  ));
}

/** The end of a text that fills `rows` at most: the terminal must never be given more than fits. */
function lastLines(text: string, rows: number, columns: number): string {
  const lines = text.replace(/\n+$/, "").split("\n").slice(-rows);
  const last = lines.at(-1) ?? "";
  const most = rows * columns;
  return lines.length === 1 && last.length > most ? last.slice(-most) : lines.join("\n");
}
