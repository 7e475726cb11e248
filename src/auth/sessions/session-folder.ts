// The folder of session records on disk: names, stamps, reading and writing. It knows nothing of what a record means.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf } from "#base/errors.ts";

const NAME = /^[0-9a-f]{64}$/;

export function sessionsFolder(home: string): string {
  return join(home, "dashboard", "sessions");
}

export type RecordText =
  | { readonly state: "text"; readonly text: string; readonly stamp: string }
  | { readonly state: "missing" }
  /** There, but we may not read it: it is left alone. */
  | { readonly state: "unreadable" };

export interface SessionFolder {
  /** Names of all records. Leftovers of interrupted writes are removed. */
  names(): readonly string[];
  read(name: string): RecordText;
  /** Atomic, 0600. Returns the stamp of what was written. Throws the system's error. */
  write(name: string, text: string): string;
  remove(name: string): void;
  /** Changes whenever the file is replaced or written; "" when it is gone. */
  stamp(name: string): string;
  /** Changes whenever a file comes or goes. */
  folderStamp(): string;
}

export function openSessionFolder(path: string): SessionFolder {
  const make = (): void => void mkdirSync(path, { recursive: true, mode: 0o700 });
  const stamp = (name: string): string => {
    const found = statSync(join(path, name), { throwIfNoEntry: false });
    return found ? `${found.ino}:${found.mtimeMs}:${found.size}` : "";
  };
  return {
    names() {
      make();
      const entries = readdirSync(path);
      for (const entry of entries) {
        if (entry.endsWith(".tmp")) rmSync(join(path, entry), { force: true });
      }
      return entries.filter((entry) => NAME.test(entry));
    },
    read(name) {
      try {
        const before = stamp(name);
        return { state: "text", text: readFileSync(join(path, name), "utf8"), stamp: before };
      } catch (error) {
        return { state: errnoOf(error) === "ENOENT" ? "missing" : "unreadable" };
      }
    },
    write(name, text) {
      make();
      writeFileAtomic(join(path, name), text, { mode: 0o600 });
      return stamp(name);
    },
    remove: (name) => rmSync(join(path, name), { force: true }),
    stamp,
    folderStamp() {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? `${found.ino}:${found.mtimeMs}` : "";
    },
  };
}
