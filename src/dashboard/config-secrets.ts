// Secret values in the settings: shown as `__set__`, and `__set__` put back as what it stood for (dashboard.md §11.5).
import { nodeAt } from "#config/shape.ts";
import { SECRET_SET } from "#protocol/http-config.ts";

type Path = readonly string[];

const SECRET_KEY = /(?:^|_)(?:api_?key|key|token|secret|password|password_hash)$/i;
/** Maps whose values are credentials more often than not. */
const SECRET_MAPS: ReadonlySet<string> = new Set(["headers", "extra_headers", "env"]);
/** Names a variable: no secret itself. */
const REFERENCE = /^\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*\}$/;

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy with every secret as `__set__`; keys that start with `_` are dropped. */
export function maskSecrets(value: unknown, path: Path = []): unknown {
  if (isMapping(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !key.startsWith("_"))
        .map(([key, inner]) => [key, maskSecrets(inner, [...path, key])]),
    );
  }
  if (Array.isArray(value)) return value.map((inner) => maskSecrets(inner, path));
  return isSecretValue(path, value) ? SECRET_SET : value;
}

/** A copy of `next` where each `__set__` is the value at that place of `before`. */
export function restoreSecrets(next: unknown, before: unknown): unknown {
  if (next === SECRET_SET) return before;
  if (!isMapping(next)) return next;
  const old = isMapping(before) ? before : {};
  return Object.fromEntries(
    Object.entries(next).map(([key, inner]) => [key, restoreSecrets(inner, old[key])]),
  );
}

/** Paths of the texts in `value` for which `test` holds. */
export function textPaths(
  value: unknown,
  test: (path: Path, text: string) => boolean,
  path: Path = [],
): Path[] {
  if (isMapping(value)) {
    return Object.entries(value).flatMap(([key, inner]) => textPaths(inner, test, [...path, key]));
  }
  return typeof value === "string" && test(path, value) ? [path] : [];
}

export function isSecretValue(path: Path, value: unknown): boolean {
  if (typeof value !== "string" || value === "" || REFERENCE.test(value)) return false;
  const node = nodeAt(path);
  if (node && node.kind !== "section" && node.meta.secret === true) return true;
  const key = path.at(-1) ?? "";
  // `key_env` and its kin name a variable.
  return SECRET_KEY.test(key) || SECRET_MAPS.has(path.at(-2) ?? "");
}
