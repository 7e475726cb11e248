// The last line: model or DEMO, profile, tokens, state, what waits.
import { Text } from "ink";
import { Toned } from "./tone.tsx";
import { isRunning, type View } from "./view.ts";

export function StatusBar({ view }: { readonly view: View }) {
  const { status, profile, live, questions, box } = view;
  const parts = [profile, tokens(status.used, status.window), stateOf(view)];
  if (live.queue.length + view.waiting.length > 0)
    parts.push(`${live.queue.length + view.waiting.length} waiting`);
  if (questions.length > 0 && box.isClosed) parts.push("a question waits: Enter opens it");
  return (
    <Text wrap="truncate-end">
      <Model view={view} />
      <Toned tone="dim">
        {parts
          .filter((part) => part !== "")
          .map((part) => ` · ${part}`)
          .join("")}
      </Toned>
    </Text>
  );
}

function Model({ view }: { readonly view: View }) {
  const { model, isDemo } = view.status;
  if (isDemo) return <Toned tone="yellow">DEMO</Toned>;
  return <Toned tone="bold">{model ?? "Hermes"}</Toned>;
}

function stateOf(view: View): string {
  if (view.phase === "starting") return "starting…";
  return isRunning(view) ? (view.live.isRunning ? view.live.state : "running") : "ready";
}

function tokens(used: number, window: number): string {
  if (window === 0) return "";
  return `${short(used)}/${short(window)}`;
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}
