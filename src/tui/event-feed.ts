// The conversation's events on their way into the view: streamed text passes the filter that knows Markdown.
import type { AgentEvent } from "#protocol/events.ts";
import type { TextFilter } from "./port.ts";
import { shown, shownButColour } from "./shown-text.ts";

/** Returns what of the answer can be shown now, coloured. */
export function filterEvent(filter: TextFilter, event: AgentEvent): string {
  const { type } = event;
  if (type === "text-delta") return shownButColour(filter.push(shown(event.text)));
  const isEnd = type === "tool-call" || type === "model-end" || type === "turn-end";
  if (isEnd || (type === "model-retry" && !event.discardText)) {
    return shownButColour(filter.flush());
  }
  if (type === "model-retry" || type === "turn-start" || type === "snapshot") filter.reset();
  return "";
}
