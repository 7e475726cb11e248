// Text of others for this screen: nothing that the terminal would obey, and no tab, whose width nobody knows.
import { cutStart, inert, inertButColour } from "#base/text.ts";

const TAB = "    ";

export function shown(text: string): string {
  return inert(text).replaceAll("\t", TAB);
}

/** As `shown`, for text that holds our own colours. */
export function shownButColour(text: string): string {
  return inertButColour(text.replaceAll(/\r\n?/g, "\n")).replaceAll("\t", TAB);
}

/** On one line, at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const line = shown(text).replaceAll(/\s+/g, " ").trim();
  return line.length > limit ? `${cutStart(line, limit - 1)}…` : line;
}
