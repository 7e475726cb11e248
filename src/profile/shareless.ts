// Taking out of a configuration what two profiles must never share: bot tokens, ports, keys of servers, allow-lists, home
// channels (agent.md §8, field-rules D05). The rest stays byte for byte where YAML allows it.
import { parseConfigText } from "#config/document.ts";
import { tokenizeEnv } from "#config/env-file.ts";
import { variableOf } from "#config/env.ts";
import { getAt, isMapping, type Mapping } from "#config/plain.ts";
import { editConfigText } from "#config/yaml-edit.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";

/** Below a platform, at any depth: settings of old versions stand in `extra`. */
const OWN_KEYS =
  /^(?:allowed_users|home_channel|home_channel_name|port|.*(?:token|secret|password|api_key|access_key)|key)$/i;
/** Where blocks of platforms stand: today's place, and the old ones. */
const BLOCKS: readonly (readonly string[])[] = [["platforms"], ["gateway", "platforms"]];
const OLD_PLATFORMS = ["telegram", "discord", "slack", "xmpp"];

/** Keys that hold secrets anywhere: an archive that travels carries none. */
const SECRET_KEYS = /^(?:api_key|token|secret|password|password_hash|client_secret)$/;

/** Throws `CONFIG_BROKEN` (78) for text that is no configuration. */
export function withoutOwn(text: string): string {
  return removeAll(text, ownPaths(rawOf(text)));
}

/** For an export: what is secret, whoever reads it. */
export function withoutSecrets(text: string): string {
  return removeAll(
    text,
    pathsWhere(rawOf(text), [], (key) => SECRET_KEYS.test(key)),
  );
}

export function withPort(text: string, platform: string, port: number): string {
  return editConfigText(text, { path: ["platforms", platform, "port"], value: port });
}

/** Lines of `.env` whose name counts per profile are left out; comments and all others stay as they are. */
export function withoutOwnVariables(text: string): string {
  let kept = "";
  let at = 0;
  for (const token of tokenizeEnv(text)) {
    if (token.kind !== "pair" || !isOwnVariable(token.name)) continue;
    kept += text.slice(at, token.from);
    at = token.to;
  }
  return kept + text.slice(at);
}

function isOwnVariable(name: string): boolean {
  const row = variableOf(name) ?? variableOf(name.replace(/_FILE$/, ""));
  return row?.perProfile ?? false;
}

function ownPaths(raw: Mapping): readonly (readonly string[])[] {
  const blocks = BLOCKS.flatMap((path) => {
    const block = getAt(raw, path);
    return isMapping(block) ? pathsWhere(block, path, (key) => OWN_KEYS.test(key)) : [];
  });
  const old = OLD_PLATFORMS.flatMap((name) => {
    const block = raw[name];
    return isMapping(block) ? pathsWhere(block, [name], (key) => OWN_KEYS.test(key)) : [];
  });
  const variables = Object.keys(raw).filter(isOwnVariable);
  return [...blocks, ...old, ...variables.map((name) => [name])];
}

function pathsWhere(
  value: Mapping,
  path: readonly string[],
  isMeant: (key: string) => boolean,
): readonly (readonly string[])[] {
  return Object.entries(value).flatMap(([key, child]) => {
    const own = [...path, key];
    // A platform may be named like one of the keys.
    if (isMeant(key) && !isMapping(child)) return [own];
    return isMapping(child) ? pathsWhere(child, own, isMeant) : [];
  });
}

function removeAll(text: string, paths: readonly (readonly string[])[]): string {
  return paths.reduce((left, path) => editConfigText(left, { path, value: undefined }), text);
}

function rawOf(text: string): Mapping {
  const parsed = parseConfigText(text);
  if (parsed.ok) return parsed.document.raw;
  throw new HermesError("CONFIG_BROKEN", `config.yaml of the source is broken: ${parsed.message}`, {
    exit: EXIT.refused,
    fix: 'Repair it first; "hermes config check" says where.',
  });
}
