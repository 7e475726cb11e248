// Old spellings: accepted on reading, kept on writing, listed by `config check` (agent.md §2.2).
import { CHAT_PLATFORMS } from "./env.ts";
import { getAt, isMapping, type Mapping } from "./plain.ts";

export interface LegacyKey {
  /** As it stands in the file. */
  readonly path: readonly string[];
  /** The setting it stands for; null: kept, but nothing reads it. */
  readonly means: string | null;
  readonly note: string;
}

export interface Modern {
  readonly raw: Mapping;
  readonly legacy: readonly LegacyKey[];
  /** Where the value of a setting stands in the file: under today's key, else under the old one. */
  originOf(path: readonly string[]): readonly string[];
  /** The old spelling that this file has for a setting; the path itself where it has none. */
  oldPathOf(path: readonly string[]): readonly string[];
}

interface Move {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

const APPROVAL_WORDS: Readonly<Record<string, string>> = {
  ask: "manual",
  yolo: "off",
  smart: "manual",
};

export const SECRET_NOTE = "a secret: move it to .env";

/** Settings of the Python version, and of later versions of this one, that nothing reads today. */
const UNREAD: readonly string[] = [
  "agent.personalities",
  "auxiliary.approval",
  "auxiliary.vision",
  "browser",
  "checkpoints",
  "code_execution",
  "delegation",
  "hooks",
  "honcho",
  "privacy.redact_pii",
  "quick_commands",
  "skills.external_dirs",
  "stt",
  "tts",
  "voice",
];

/** Brings a file's mapping into today's spelling; where both spellings stand, today's wins key by key. */
export function modernise(written: Mapping): Modern {
  const raw: Mapping = { ...written };
  const legacy: LegacyKey[] = [];
  const moves: Move[] = [];
  const move = (from: readonly string[], to: readonly string[]): void => {
    moves.push({ from, to });
    legacy.push({ path: from, means: to.join("."), note: `today ${to.join(".")}` });
  };
  moveModel(raw, move);
  movePlatforms(raw, move);
  moveHomeChannels(raw, move);
  renameApproval(raw, legacy);
  const oldPathOf = (path: readonly string[]): readonly string[] => unmove(path, moves);
  const originOf = (path: readonly string[]): readonly string[] =>
    getAt(written, path) === undefined ? oldPathOf(path) : path;
  for (const path of secretsInYaml(raw)) {
    legacy.push({ path: originOf(path), means: path.join("."), note: SECRET_NOTE });
  }
  legacy.push(...unread(written));
  return { raw, legacy, originOf, oldPathOf };
}

type Mover = (from: readonly string[], to: readonly string[]) => void;

function moveModel(raw: Mapping, move: Mover): void {
  if (typeof raw["model"] !== "string") return;
  raw["model"] = { default: raw["model"] };
  move(["model"], ["model", "default"]);
}

function movePlatforms(raw: Mapping, move: Mover): void {
  const { gateway } = raw;
  if (isMapping(gateway) && isMapping(gateway["platforms"])) {
    const { platforms, ...rest } = gateway;
    raw["gateway"] = rest;
    raw["platforms"] = merge(raw["platforms"], platforms);
    move(["gateway", "platforms"], ["platforms"]);
  }
  for (const name of ["telegram", "discord", "slack"]) {
    if (!isMapping(raw[name])) continue;
    raw["platforms"] = merge(raw["platforms"], { [name]: raw[name] });
    delete raw[name];
    move([name], ["platforms", name]);
  }
}

function moveHomeChannels(raw: Mapping, move: Mover): void {
  for (const name of CHAT_PLATFORMS) {
    const key = `${name.toUpperCase()}_HOME_CHANNEL`;
    if (raw[key] === undefined) continue;
    raw["platforms"] = merge(raw["platforms"], { [name]: { home_channel: raw[key] } });
    delete raw[key];
    move([key], ["platforms", name, "home_channel"]);
  }
}

function renameApproval(raw: Mapping, legacy: LegacyKey[]): void {
  const { approvals } = raw;
  const word = getAt(approvals, ["mode"]);
  const today = typeof word === "string" ? APPROVAL_WORDS[word] : undefined;
  if (!isMapping(approvals) || today === undefined) return;
  raw["approvals"] = { ...approvals, mode: today };
  legacy.push({ path: ["approvals", "mode"], means: "approvals.mode", note: `today ${today}` });
}

/** `first` wins; a value that is no mapping is left for the reader to complain about. */
function merge(first: unknown, second: unknown): unknown {
  if (first === undefined || first === null) return second;
  if (!isMapping(first) || !isMapping(second)) return first;
  const result: Mapping = { ...second };
  for (const [key, value] of Object.entries(first)) result[key] = merge(value, second[key]);
  return result;
}

/** Keys that hold a secret in YAML. They work and warn. */
function secretsInYaml(raw: Mapping): string[][] {
  const paths: string[][] = [["model", "api_key"]];
  for (const id of keysOf(raw["providers"])) paths.push(["providers", id, "api_key"]);
  for (const id of keysOf(raw["platforms"])) paths.push(["platforms", id, "token"]);
  return paths.filter((path) => {
    const secret = getAt(raw, path);
    return typeof secret === "string" && secret !== "";
  });
}

function keysOf(value: unknown): string[] {
  return isMapping(value) ? Object.keys(value) : [];
}

function unread(written: Mapping): LegacyKey[] {
  return UNREAD.map((key) => key.split("."))
    .filter((path) => getAt(written, path) !== undefined)
    .map((path) => ({ path, means: null, note: "kept; this version does not read it" }));
}

/** True for keys that are listed as legacy rather than unknown. */
export function isUnreadKey(path: readonly string[]): boolean {
  return UNREAD.includes(path.join("."));
}

function unmove(path: readonly string[], moves: readonly Move[]): readonly string[] {
  for (const { from, to } of [...moves].reverse()) {
    if (to.every((key, index) => path[index] === key)) return [...from, ...path.slice(to.length)];
  }
  return path;
}
