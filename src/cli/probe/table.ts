// The results as people read them. Text of servers that may not be ours cannot steer a terminal.
import { stripHidden } from "#agent/visible-text.ts";
import type { Io, Style } from "../io.ts";
import { FOREIGN, type ProbeResult, type ProbeState } from "./judge.ts";

const STYLES: Readonly<Record<ProbeState, Style>> = {
  running: "green",
  gated: "yellow",
  starting: "yellow",
  down: "red",
};

const MOST_URL_COLUMNS = 60;

/** Width of the first column, known before the first answer is there. */
export function urlWidth(urls: readonly string[]): number {
  return Math.min(MOST_URL_COLUMNS, Math.max(3, ...urls.map((url) => url.length)));
}

export function tableHead(width: number): string {
  return row(width, ["URL", "STATE", "CODE", "LOGIN", "GATEWAY", "VERSION", "MS", "REASON"]);
}

export function tableRow(result: ProbeResult, width: number, paint: Io["paint"]): string {
  const { url, state, code, auth_required, gateway_state, version, ms } = result;
  const login = auth_required === null ? "-" : auth_required ? "yes" : "no";
  const cells = [url, state, String(code ?? "-"), login, gateway_state ?? "-", version ?? "-"];
  const shown = [...cells, String(ms), reasonText(result)].map(oneLine);
  return row(width, shown, (text) => paint(STYLES[state], text));
}

const WIDTHS = [9, 5, 6, 15, 10, 6] as const;

function row(
  width: number,
  [url = "", state = "", ...rest]: readonly string[],
  paintState: (text: string) => string = (text) => text,
): string {
  const padded = [state, ...rest].map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0));
  const [first = "", ...others] = padded;
  return `${url.padEnd(width)}  ${paintState(first)} ${others.join(" ")}`.trimEnd();
}

function oneLine(text: string): string {
  return stripHidden(text).replaceAll(/\s+/g, " ");
}

function reasonText({ reason, state }: ProbeResult): string {
  if (reason === FOREIGN) return `${FOREIGN}: another server answers there`;
  if (state === "starting") return `${reason}: what is in front answers, the agent not yet`;
  return reason ?? "";
}

/** `3 agents: 2 running, 1 down`. */
export function tally(results: readonly ProbeResult[]): string {
  const counts = (Object.keys(STYLES) as ProbeState[])
    .map((state) => [results.filter((result) => result.state === state).length, state] as const)
    .filter(([count]) => count > 0);
  return `${results.length} agents: ${counts.map((entry) => entry.join(" ")).join(", ")}`;
}
