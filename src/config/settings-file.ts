// Which text of the settings counts: `config.yaml`, or its last good copy while it is broken (agent.md §2.3).
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import type { Problem } from "#base/errors.ts";
import { parseConfigText, type ConfigDocument, type ParsedConfig } from "./document.ts";
import { configPathOf, lastGoodPathOf, readText } from "./files.ts";
import type { ConfigFileState } from "./loaded.ts";
import { error, warning } from "./problems.ts";

export interface SettingsFile {
  readonly path: string;
  readonly state: ConfigFileState;
  /** What to read; null: there is nothing, use defaults. */
  readonly document: ConfigDocument | null;
  readonly problems: readonly Problem[];
}

export function readSettingsFile(home: string): SettingsFile {
  const path = configPathOf(home);
  const file = readText(path);
  switch (file.state) {
    case "missing":
      return { path, state: { state: "missing" }, document: null, problems: [] };
    case "unreadable":
      return { path, state: { state: "ok" }, document: null, problems: [file.problem] };
    case "binary":
      return useLastGood(home, { ok: false, place: null, message: "The file is not UTF-8 text" });
    case "text": {
      const parsed = parseConfigText(file.text);
      if (!parsed.ok) return useLastGood(home, parsed);
      return { path, state: { state: "ok" }, document: parsed.document, problems: [] };
    }
  }
}

function useLastGood(home: string, broken: Extract<ParsedConfig, { ok: false }>): SettingsFile {
  const path = configPathOf(home);
  const { place, message } = broken;
  const where = place === null ? "" : ` at line ${place.line}, column ${place.column}`;
  const sentence = `${path} is broken${where}: ${message}`;
  const fix = "Correct the file; it is not changed until then.";
  const copy = readText(lastGoodPathOf(home));
  const parsed = copy.state === "text" ? parseConfigText(copy.text) : null;
  const isUsable = parsed?.ok === true;
  const line = place?.line ?? null;
  const column = place?.column ?? null;
  return {
    path,
    state: { state: "broken", line, column, message },
    document: isUsable ? parsed.document : null,
    problems: [
      isUsable
        ? warning("CONFIG_BROKEN", path, `${sentence}. The last good copy is in use`, { fix })
        : error("CONFIG_BROKEN", path, sentence, { fix }),
    ],
  };
}

/** Keeps the text of a valid load (0600). A home that cannot be written is no reason to stop. */
export function rememberLastGood(home: string, text: string): void {
  const path = lastGoodPathOf(home);
  const old = readText(path);
  if (old.state === "text" && old.text === text) return;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileAtomic(path, text, { mode: 0o600 });
  } catch {
    // Doctor reports a home that cannot be written.
  }
}
