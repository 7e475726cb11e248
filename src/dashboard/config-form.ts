// The settings as the form shows them, and what a form that comes back changes (dashboard.md §11.5). Pure.
import { isDeepStrictEqual } from "node:util";
import type { PathChange } from "#config/old-spellings-write.ts";
import { getAt } from "#config/plain.ts";
import { leavesOf, nodeAt } from "#config/shape.ts";
import type { Config } from "#config/tree.ts";
import { SECRET_SET, type ConfigBody } from "#protocol/http-config.ts";
import { isMapping, maskSecrets, restoreSecrets } from "./config-secrets.ts";

/** `model` is one name with `model_context_length` beside it; secrets are `__set__`; keys with `_` in front are dropped. */
export function formOf(config: Config): ConfigBody {
  const masked = maskSecrets(config) as Record<string, unknown>;
  return {
    ...masked,
    model: config.model.default,
    model_context_length: config.model.context_length,
  };
}

/** Only what differs from the form as it was: the environment's overrides are not written down. null takes a key out. */
export function changesOf(form: ConfigBody, config: Config): PathChange[] {
  const changes: PathChange[] = [];
  for (const { path, node } of leavesOf()) {
    if (path[0] === "model" || node.meta.hidden) continue;
    const next = getAt(form, path);
    const before = getAt(config, path);
    if (next === undefined || next === SECRET_SET) continue;
    const value = restoreSecrets(next, before);
    if (isDeepStrictEqual(value, before)) continue;
    changes.push({ path, value: value === null ? undefined : value });
  }
  return [...changes, ...modelChanges(form, config)];
}

function modelChanges(form: ConfigBody, config: Config): PathChange[] {
  const changes: PathChange[] = [];
  const name = isMapping(form["model"]) ? form["model"]["default"] : form["model"];
  if (name !== undefined && name !== config.model.default) {
    changes.push({ path: ["model", "default"], value: name });
  }
  const length = form["model_context_length"];
  if (length !== undefined && length !== config.model.context_length) {
    changes.push({ path: ["model", "context_length"], value: length === 0 ? undefined : length });
  }
  return changes;
}

/** The gate's own keys: command line or file only, so that a stolen session cannot open the door wider. */
export const GATE_KEYS = [
  "oauth",
  "basic_auth",
  "session",
  "public_url",
  "base_path",
  "trusted_proxies",
  "allowed_hosts",
  "cors_origins",
  "csp",
] as const;

export function isGateKey(path: readonly string[]): boolean {
  return path[0] === "dashboard" && GATE_KEYS.some((key) => key === path[1]);
}

const FRESH_SECTIONS: ReadonlySet<string> = new Set([
  "plugins",
  "hooks",
  "mcp_servers",
  "quick_commands",
  "command_allowlist",
]);

/** What lets somebody run code or widens access: only shortly after a sign-in. */
export function needsFreshLogin(path: readonly string[]): boolean {
  if (FRESH_SECTIONS.has(path[0] ?? "")) return true;
  const node = nodeAt(path);
  return node !== null && node.kind !== "section" && node.meta.guard === true;
}
