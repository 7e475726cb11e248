// Reading the files of a home: missing, unreadable and not text are told apart (product.md §5).
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, type Problem } from "#base/errors.ts";
import { describeAccess, error, ownUid } from "./problems.ts";

export type FileText =
  | { readonly state: "text"; readonly text: string }
  | { readonly state: "missing" }
  | { readonly state: "unreadable"; readonly problem: Problem }
  /** Bytes that are no UTF-8. */
  | { readonly state: "binary" };

export const configPathOf = (home: string): string => join(home, "config.yaml");
export const envPathOf = (home: string): string => join(home, ".env");
export const lastGoodPathOf = (home: string): string =>
  join(home, "cache", "config.last-good.yaml");

export function readText(path: string): FileText {
  let bytes: Uint8Array;
  try {
    // Reading a pipe would wait for whoever writes into it, perhaps for ever.
    if (statSync(path).isFIFO()) return unreadable(path, "it is a pipe");
    bytes = readFileSync(path);
  } catch (cause) {
    return errnoOf(cause) === "ENOENT"
      ? { state: "missing" }
      : unreadable(path, errnoOf(cause) ?? "unknown error");
  }
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { state: "text", text: decoder.decode(bytes) };
  } catch {
    return { state: "binary" };
  }
}

function unreadable(path: string, reason: string): FileText {
  const access = describeAccess(path, statSync);
  const message = `${path} cannot be read: ${reason}${access}, read as uid ${ownUid()}`;
  const problem = error("CONFIG_UNREADABLE", path, message, {
    fix: "Make the file readable for this user.",
  });
  return { state: "unreadable", problem };
}
