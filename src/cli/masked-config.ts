// The configuration as it may be shown: secret leaves are masked, whatever else is known as secret is the redactor's.
import type { Config } from "#config/tree.ts";
import { isMapping } from "#config/plain.ts";
import { leavesOf } from "#config/shape.ts";

const MASK = "[set]";
/** Old spellings that hold keys in YAML (agent.md §2.2). */
const SECRET_KEYS = /^(api_key|token|secret|password|password_hash|client_secret)$/;

export function maskedConfig(config: Config): Readonly<Record<string, unknown>> {
  const secret = new Set(
    [...leavesOf()]
      .filter(({ node }) => node.meta.secret === true)
      .map(({ path }) => path.join("\0")),
  );
  return mask(config, [], secret) as Record<string, unknown>;
}

function mask(value: unknown, path: readonly string[], secret: ReadonlySet<string>): unknown {
  const isHidden = secret.has(path.join("\0")) || SECRET_KEYS.test(path.at(-1) ?? "");
  if (isHidden && !isMapping(value)) return value === "" || value === null ? value : MASK;
  if (Array.isArray(value))
    return value.map((entry, index) => mask(entry, [...path, String(index)], secret));
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, mask(child, [...path, key], secret)]),
  );
}
