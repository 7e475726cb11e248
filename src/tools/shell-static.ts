// What a few harmless programs print, computed instead of run, so that text decoded on its way to a shell is judged too.
import { decodeEscapes } from "./shell-lexer.ts";

const MAX_OUTPUT_CHARS = 65_536;

/**
 * Output of `words` with `stdin`, or null when it cannot be told. Knows echo, printf, cat, base64 -d, base32 -d, xxd -r -p,
 * rev, tr and tac.
 */
export function staticOutput(words: readonly string[], stdin: string | null): string | null {
  const output = outputOf(words, stdin);
  return output === null || output.length > MAX_OUTPUT_CHARS ? null : output;
}

function outputOf(words: readonly string[], stdin: string | null): string | null {
  const [name = "", ...args] = words;
  const decodes = args.some((arg) => /^(?:-[a-z]*[dD]|--decode)$/.test(arg));
  switch (name) {
    case "echo":
      return echo(args);
    case "printf":
      return printf(args);
    case "tee":
      return stdin;
    case "cat":
      return args.every((arg) => arg === "-") ? stdin : null;
    case "base64":
      return stdin !== null && decodes ? Buffer.from(stdin, "base64").toString("utf8") : null;
    case "base32":
      return stdin !== null && decodes ? decodeBase32(stdin) : null;
    case "xxd":
      return stdin !== null && /(?:^|,)-(?:r,-p|p,-r|rp|pr|r,-ps|ps,-r)/.test(args.join(","))
        ? Buffer.from(stdin.replace(/\s/g, ""), "hex").toString("utf8")
        : null;
    case "rev":
      return stdin === null ? null : stdin.split("\n").map(reverse).join("\n");
    case "tac":
      return stdin === null
        ? null
        : `${stdin.replace(/\n$/, "").split("\n").reverse().join("\n")}\n`;
    case "tr":
      return stdin === null ? null : translate(stdin, args);
    default:
      return null;
  }
}

function reverse(line: string): string {
  return Array.from(line).reverse().join("");
}

function echo(args: readonly string[]): string {
  let rest = args;
  let escapes = false;
  let newline = "\n";
  while (rest[0] !== undefined && /^-[neE]+$/.test(rest[0])) {
    if (rest[0].includes("e")) escapes = true;
    if (rest[0].includes("n")) newline = "";
    rest = rest.slice(1);
  }
  const text = rest.join(" ");
  return (escapes ? decodeEscapes(text) : text) + newline;
}

function printf(args: readonly string[]): string | null {
  const [format, ...values] = args[0] === "--" ? args.slice(1) : args;
  if (format === undefined || format.startsWith("-v")) return null;
  const queue = [...values];
  let out = "";
  do {
    out += decodeEscapes(format.replace(/%%/g, "\uE0FE")).replace(
      /%[-0-9.]*([sbcdq])/g,
      (_all, kind) => {
        const value = queue.shift() ?? "";
        return kind === "b" ? decodeEscapes(value) : value;
      },
    );
  } while (queue.length > 0 && /%[-0-9.]*[sbcdq]/.test(format));
  return out.replaceAll("\uE0FE", "%");
}

function translate(text: string, args: readonly string[]): string | null {
  const deletes = args[0] === "-d";
  const [from, to] = (deletes ? args.slice(1) : args).map(expandSet);
  if (from === undefined || (!deletes && (to === undefined || to === ""))) return null;
  return Array.from(text, (char) => {
    const index = from.indexOf(char);
    if (index === -1) return char;
    return deletes ? "" : (to?.[Math.min(index, to.length - 1)] ?? char);
  }).join("");
}

function expandSet(set: string): string {
  return decodeEscapes(set).replace(/(.)-(.)/g, (all, first: string, last: string) => {
    const from = first.charCodeAt(0);
    const count = last.charCodeAt(0) - from + 1;
    if (count < 1 || count > 256) return all;
    return String.fromCharCode(...Array.from({ length: count }, (_, index) => from + index));
  });
}

function decodeBase32(text: string): string {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const char of text.toUpperCase().replace(/[^A-Z2-7]/g, "")) {
    value = ((value << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes).toString("utf8");
}
