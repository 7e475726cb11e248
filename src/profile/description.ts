// `profile.yaml`: what people say about a profile.
import { join } from "node:path";
import { stringify } from "yaml";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { parseConfigText } from "#config/document.ts";
import { readText } from "#config/files.ts";

const pathOf = (home: string): string => join(home, "profile.yaml");

/** Empty when there is none, or none that can be read. */
export function readDescription(home: string): string {
  const file = readText(pathOf(home));
  const parsed = file.state === "text" ? parseConfigText(file.text) : null;
  const text = parsed?.ok === true ? parsed.document.raw["description"] : "";
  return typeof text === "string" ? text : "";
}

export function writeDescription(home: string, description: string): void {
  writeFileAtomic(pathOf(home), stringify({ description: description.trim() }), { mode: 0o640 });
}
