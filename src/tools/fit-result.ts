// Cutting a result to what the model may get, keeping the JSON whole: the longest texts in it are shortened.
import { messageOf } from "#base/errors.ts";
import { cutEnd, cutStart } from "#base/text.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { spill } from "./spill.ts";

export interface Fitted {
  /** JSON text of at most the limit in UTF-16 units. */
  readonly content: string;
  /** UTF-8 bytes of the whole result. */
  readonly bytes: number;
  readonly truncated: boolean;
}

type Json = Readonly<Record<string, unknown>>;
/** Texts shorter than this are left alone; when only such are left, the result is replaced by a preview. */
const MIN_CUT_CHARS = 400;
const MAX_CUTS = 64;
const HEAD_SHARE = 0.4;

/** Over `limit`: cut 40 % head, 60 % tail, `truncated: true`, and `spill_path` of the whole. */
export function fitResult(
  value: Json,
  limit: number,
  deps: Pick<ToolBoxDeps, "home" | "clock" | "log">,
): Fitted {
  const whole = stringify(value);
  const bytes = Buffer.byteLength(whole);
  if (whole.length <= limit)
    return { content: whole, bytes, truncated: value["truncated"] === true };
  const path = spillQuietly(value, whole, deps);
  const marks: Json = { truncated: true, ...(path === null ? {} : { spill_path: path }) };
  // A spill path that the tool made itself holds more than what arrived here.
  const marked: Json = {
    ...value,
    ...marks,
    ...("spill_path" in value ? { spill_path: value["spill_path"] } : {}),
  };
  return { content: shrink(marked, limit) ?? preview(whole, marks, limit), bytes, truncated: true };
}

function stringify(value: Json): string {
  try {
    return JSON.stringify(value) ?? "{}";
  } catch (error) {
    return JSON.stringify({
      error: `the result is not JSON: ${messageOf(error)}`,
      code: "TOOL_FAILED",
    });
  }
}

function spillQuietly(
  value: Json,
  whole: string,
  deps: Pick<ToolBoxDeps, "home" | "clock" | "log">,
): string | null {
  if ("spill_path" in value) return null;
  try {
    const longest = longestText(value);
    const text = longest && longest.text.length * 2 > whole.length ? longest.text : whole;
    return spill(deps.home, text, deps.clock);
  } catch (error) {
    deps.log.warn("a tool result could not be spilled", { error: messageOf(error) });
    return null;
  }
}

function shrink(value: Json, limit: number): string | null {
  const copy = structuredClone(value) as Record<string, unknown>;
  let text = JSON.stringify(copy);
  for (let cuts = 0; text.length > limit && cuts < MAX_CUTS; cuts++) {
    const longest = longestText(copy);
    if (!longest || longest.text.length <= MIN_CUT_CHARS) return null;
    const over = text.length - limit;
    // JSON escapes count more than one character: shrink by share, and again if that was not enough.
    const encoded = JSON.stringify(longest.text).length;
    const share = Math.max(0, encoded - over - 80) / encoded;
    longest.set(
      cutMiddle(longest.text, Math.max(MIN_CUT_CHARS / 2, Math.floor(longest.text.length * share))),
    );
    text = JSON.stringify(copy);
  }
  return text.length <= limit ? text : null;
}

/** 40 % from the head, 60 % from the tail, a mark between them. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = cutStart(text, Math.floor(limit * HEAD_SHARE));
  const tail = cutEnd(text, limit - Math.floor(limit * HEAD_SHARE));
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

function preview(whole: string, marks: Json, limit: number): string {
  for (let size = limit; size > 0; size = Math.floor(size * 0.7)) {
    const text = JSON.stringify({ ...marks, preview: cutMiddle(whole, size) });
    if (text.length <= limit) return text;
  }
  return JSON.stringify(marks);
}

interface TextSlot {
  readonly text: string;
  set(text: string): void;
}

function longestText(value: unknown, depth = 0): TextSlot | null {
  if (typeof value !== "object" || value === null || depth > 16) return null;
  const holder = value as Record<string, unknown>;
  let best: TextSlot | null = null;
  for (const [key, entry] of Object.entries(holder)) {
    if (key === "spill_path") continue;
    const slot: TextSlot | null =
      typeof entry === "string"
        ? { text: entry, set: (text) => void (holder[key] = text) }
        : longestText(entry, depth + 1);
    if (slot && slot.text.length > (best?.text.length ?? -1)) best = slot;
  }
  return best;
}
