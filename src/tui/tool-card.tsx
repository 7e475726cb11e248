// One tool call: what it does, how long it takes, and the end of its output.
import { Box, Text } from "ink";
import { Toned } from "./tone.tsx";
import type { Call } from "./view.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FOLDED_LINES = 3;
const UNFOLDED_LINES = 150;
/** Longer lines say nothing more here. */
const LINE_LIMIT = 2000;

interface ToolCardProps {
  readonly call: Call;
  readonly isUnfolded: boolean;
  readonly nowMs: number;
  /** Counts up while something runs. */
  readonly frame: number;
  /** Lines of output at most. */
  readonly lines?: number;
}

export function ToolCard({ call, isUnfolded, nowMs, frame, lines }: ToolCardProps) {
  const most = Math.min(isUnfolded ? UNFOLDED_LINES : FOLDED_LINES, lines ?? UNFOLDED_LINES);
  const shown = call.state === "running" || isUnfolded ? tail(call.output, most) : [];
  return (
    <Box flexDirection="column">
      <Text wrap="truncate-end">
        <Mark call={call} frame={frame} /> <Text bold>{call.name}</Text> {call.about}
        <Toned tone="dim">{secondsOf(call, nowMs)}</Toned>
      </Text>
      {shown.map((line, index) => (
        <Toned key={index} tone="dim" wrap={isUnfolded ? "wrap" : "truncate-end"}>
          {`  ${line}`}
        </Toned>
      ))}
      {call.summary === "" ? null : (
        <Toned tone={call.state === "failed" ? "red" : "dim"}>{`  ${call.summary}`}</Toned>
      )}
    </Box>
  );
}

function Mark({ call, frame }: { readonly call: Call; readonly frame: number }) {
  switch (call.state) {
    case "waiting":
      return <Toned tone="dim">·</Toned>;
    case "running":
      return <Toned tone="cyan">{spinner(frame)}</Toned>;
    case "ok":
      return <Toned tone="green">✓</Toned>;
    case "failed":
      return <Toned tone="red">✗</Toned>;
  }
}

export function spinner(frame: number): string {
  return FRAMES[frame % FRAMES.length] ?? "";
}

function secondsOf(call: Call, nowMs: number): string {
  if (call.durationMs !== null) return ` ${(call.durationMs / 1000).toFixed(1)} s`;
  if (call.state !== "running") return "";
  return ` ${Math.max(0, Math.floor((nowMs - call.startedAtMs) / 1000))} s`;
}

function tail(output: string, most: number): readonly string[] {
  const lines = output.replace(/\n+$/, "").split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.slice(-most).map((line) => line.slice(0, LINE_LIMIT));
}
