// The one boolean parser (product.md D9). Every switch of every surface goes through here.

const ON: ReadonlySet<string> = new Set(["1", "true", "TRUE", "True", "yes", "YES", "Yes"]);
const OFF: ReadonlySet<string> = new Set(["", "0", "false", "no", "off"]);

/** `unclear` is neither an on-word nor an off-word: it counts as off and the caller warns, naming the variable. */
export type SwitchState = "on" | "off" | "unclear";

/** Reads the text of a switch. On-words are exact; off-words count in any case; undefined is off. */
export function parseSwitch(text: string | undefined): SwitchState {
  if (text === undefined) return "off";
  if (ON.has(text)) return "on";
  return OFF.has(text.toLowerCase()) ? "off" : "unclear";
}
