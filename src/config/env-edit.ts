// Changing one name of `.env`: everything else stays byte for byte, or nothing is written (agent.md §2.4).
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { isRefusedName } from "./env.ts";
import { parseEnv, tokenizeEnv, type EnvToken } from "./env-file.ts";

type Pair = Extract<EnvToken, { kind: "pair" }>;

/** The text with `name` set: the last occurrence is changed in place, or one line is appended. */
export function setEnvText(text: string, name: string, value: string): string {
  checkName(name);
  if (value.includes("\0")) throw refused(name, "its value holds a NUL character");
  const last = pairsOf(text, name).at(-1);
  const written = encodeValue(value);
  const next =
    last === undefined
      ? append(text, `${name}=${written}`)
      : text.slice(0, last.start) + written + text.slice(last.end);
  return checked(text, next, name, value);
}

/** The text without any line that sets `name`. */
export function unsetEnvText(text: string, name: string): string {
  let next = text;
  for (const pair of pairsOf(text, name).reverse()) {
    next = next.slice(0, pair.from) + next.slice(pair.to);
  }
  return checked(text, next, name, null);
}

function pairsOf(text: string, name: string): Pair[] {
  return tokenizeEnv(text).filter(
    (token): token is Pair => token.kind === "pair" && token.name === name,
  );
}

function append(text: string, line: string): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const isOpen = text !== "" && text !== "\uFEFF" && !text.endsWith("\n");
  return `${text}${isOpen ? end : ""}${line}${end}`;
}

function encodeValue(value: string): string {
  if (value === "" || /^[\w.,:/@%+=~^#!*?-]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  const inner = value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `"${inner}"`;
}

/** The result must parse to the old map and the one change, with the bad lines where they were. */
function checked(before: string, after: string, name: string, value: string | null): string {
  const expected = parseEnv(before);
  if (value === null) expected.delete(name);
  else expected.set(name, value);
  const actual = parseEnv(after);
  const isSame =
    actual.size === expected.size && [...expected].every(([key, text]) => actual.get(key) === text);
  if (!isSame || badCount(before) !== badCount(after)) {
    throw refused(name, "another line of the file would change its meaning");
  }
  return after;
}

const badCount = (text: string): number =>
  tokenizeEnv(text).filter((token) => token.kind === "bad").length;

function checkName(name: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw refused(name, "a name has letters, digits and _ only");
  }
  if (isRefusedName(name)) {
    throw refused(name, "it changes which program runs or what it may do");
  }
}

function refused(name: string, why: string): HermesError {
  return new HermesError("ENV_EDIT_REFUSED", `${name} is not written to .env: ${why}`, {
    exit: EXIT.usage,
    setting: name,
    fix: "Set it in the environment of the process, or edit the file by hand.",
  });
}
