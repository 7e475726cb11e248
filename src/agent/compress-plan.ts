// Which rows a compression keeps and which it summarises (agent.md §4.7, steps 1 and 2). Pure.
import type { StoredMessage } from "#protocol/messages.ts";
import type { NewMessage } from "./ports/session-store.ts";
import type { CompressionSettings } from "./ports/turn.ts";
import { estimateRows } from "./token-estimate.ts";

/** Windows under this size compress at 75 % at the earliest. */
const LARGE_WINDOW = 512_000;
const SMALL_WINDOW_THRESHOLD = 0.75;
/** Kept rows may fill this share of the room, so that the summary and new work find room. */
const KEEP_SHARE = 0.5;
/** Results longer than this, in characters, are bulky. */
const BULKY = 1000;

export interface CompressionPlan {
  readonly head: readonly StoredMessage[];
  readonly middle: readonly StoredMessage[];
  readonly tail: readonly StoredMessage[];
}

/** Prompt tokens that start a compression in a window of this size. */
export function triggerTokens(settings: CompressionSettings, window: number): number {
  const floor = window < LARGE_WINDOW ? SMALL_WINDOW_THRESHOLD : 0;
  return Math.floor(window * Math.max(settings.threshold, floor));
}

/**
 * The first way to split that leaves something to summarise and keeps no more than half of `room` (tokens that rows may take): as configured;
 * then the tail by its tokens alone; then only the last exchange; then only the last answer with its results. null when nothing can be left out.
 */
export function planCompression(
  rows: readonly StoredMessage[],
  settings: CompressionSettings,
  room: number,
): CompressionPlan | null {
  const units = unitsOf(rows);
  const tailTokens = settings.targetRatio * room;
  const head = headUnits(units, settings.protectFirst);
  const plans = [
    split(units, head, tailUnits(units, tailTokens, settings.protectLast)),
    split(units, head, tailUnits(units, tailTokens, 1)),
    split(units, 0, unitsFromLastUser(units)),
    split(units, 0, 1),
  ].filter((plan) => plan.middle.some((row) => row.kind !== "summary"));
  const kept = (plan: CompressionPlan): number => estimateRows([...plan.head, ...plan.tail]);
  const fitting = plans.find((plan) => kept(plan) <= room * KEEP_SHARE);
  return fitting ?? plans.sort((a, b) => kept(a) - kept(b))[0] ?? null;
}

/** Step 1: bulky results outside the tail become one line each. null when there are none. */
export function trimResults(plan: CompressionPlan): readonly NewMessage[] | null {
  const old = [...plan.head, ...plan.middle];
  if (!old.some(isBulky)) return null;
  return [...old.map(trimResult), ...plan.tail.map(copyRow)];
}

/** A row as it goes into the child session. */
export function copyRow(row: StoredMessage): NewMessage {
  const { id: _id, sessionId: _sessionId, active: _active, ...rest } = row;
  return rest;
}

export function trimResult(row: StoredMessage): NewMessage {
  if (!isBulky(row)) return copyRow(row);
  const size = row.content?.length ?? 0;
  const content = `[result of ${row.toolName ?? "a tool"} removed, ${size} characters]`;
  return { ...copyRow(row), content };
}

function isBulky(row: StoredMessage): boolean {
  // The todo list is short and must survive.
  return row.role === "tool" && row.toolName !== "todo" && (row.content?.length ?? 0) > BULKY;
}

/** An answer with its results is one unit: a cut never goes between a call and its result (I10). */
function unitsOf(rows: readonly StoredMessage[]): StoredMessage[][] {
  const units: StoredMessage[][] = [];
  for (const row of rows) {
    const last = units.at(-1);
    if (row.role === "tool" && last?.[0]?.role === "assistant") last.push(row);
    else units.push([row]);
  }
  return units;
}

/** Whole units within the first `count` rows, none of them a summary: that one is updated, not kept. */
function headUnits(units: readonly StoredMessage[][], count: number): number {
  let rows = 0;
  let taken = 0;
  for (const unit of units) {
    rows += unit.length;
    if (rows > count || unit[0]?.kind === "summary") break;
    taken++;
  }
  return taken;
}

/** Units from the end until both the token budget and the least number of rows are reached. */
function tailUnits(units: readonly StoredMessage[][], tokens: number, leastRows: number): number {
  let taken = 0;
  let rows = 0;
  let used = 0;
  for (const unit of [...units].reverse()) {
    const size = estimateRows(unit);
    if (rows >= leastRows && used + size > tokens) break;
    taken++;
    rows += unit.length;
    used += size;
  }
  return taken;
}

function unitsFromLastUser(units: readonly StoredMessage[][]): number {
  const at = units.findLastIndex((unit) => unit[0]?.role === "user" && unit[0].kind === null);
  return at < 0 ? 1 : units.length - at;
}

function split(units: readonly StoredMessage[][], head: number, tail: number): CompressionPlan {
  const tailAt = Math.max(head, units.length - tail);
  return {
    head: units.slice(0, head).flat(),
    middle: units.slice(head, tailAt).flat(),
    tail: units.slice(tailAt).flat(),
  };
}
