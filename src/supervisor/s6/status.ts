// What s6-svstat and s6-svdt print, by the named fields only, never the human line (container.md §7.3). Works from s6 2.11 on.
import type { Death } from "../port.ts";
import { parseTai64n } from "./tai.ts";

export const STATUS_FIELDS = [
  "up",
  "wantedup",
  "normallyup",
  "ready",
  "pid",
  "exitcode",
  "signal",
  "updownsince",
  "readysince",
] as const;

export interface SupervisorStatus {
  readonly up: boolean;
  readonly wantedUp: boolean;
  readonly normallyUp: boolean;
  readonly ready: boolean;
  readonly pid: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly changedAt: number | null;
  readonly readyAt: number | null;
}

/** null when the line is not what the fields ask for. */
export function parseStatus(line: string): SupervisorStatus | null {
  const words = line.trim().split(/\s+/u);
  if (words.length !== STATUS_FIELDS.length) return null;
  const [up, wantedUp, normallyUp, ready, pid, code, signal, changed, readied] = words;
  const flags = [up, wantedUp, normallyUp, ready];
  if (!flags.every((word) => word === "true" || word === "false")) return null;
  return {
    up: up === "true",
    wantedUp: wantedUp === "true",
    normallyUp: normallyUp === "true",
    ready: ready === "true",
    pid: natural(pid),
    exitCode: natural(code),
    signal: signal === undefined || signal === "NA" ? null : signal,
    changedAt: parseTai64n(changed ?? ""),
    readyAt: parseTai64n(readied ?? ""),
  };
}

/** `@… exitcode N` and `@… signal NAME`, oldest first; other lines are left out. */
export function parseDeaths(text: string): readonly Death[] {
  return text.split("\n").flatMap((line): readonly Death[] => {
    const [stamp, kind, value] = line.trim().split(/\s+/u);
    const at = parseTai64n(stamp ?? "");
    if (at === null || value === undefined) return [];
    if (kind === "signal") return [{ at, code: null, signal: value }];
    const code = natural(value);
    return kind === "exitcode" && code !== null ? [{ at, code, signal: null }] : [];
  });
}

/** s6 prints −1 where there is none. */
function natural(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/u.test(text) ? Number(text) : null;
}
