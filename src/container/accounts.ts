// The user `hermes` gets the numbers of whoever owns the volume (container.md §3, R2 and R3). Lines are rewritten, never
// through usermod, which would walk the home.
import { readFileSync } from "node:fs";
import { writeFileAtomic } from "#base/atomic-file.ts";

export interface AccountFiles {
  readonly passwd: string;
  readonly group: string;
}

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export const USER = "hermes";

/** Throws when there is no such user, or the file cannot be read. */
export function readAccount({ passwd }: AccountFiles): Account {
  const fields = lineOf(readFileSync(passwd, "utf8"), USER);
  if (fields === null) throw new Error(`${passwd} has no user ${USER}`);
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Throws the system's error where the files cannot be written. A gid of another group is shared, not stolen. */
export function writeAccount(files: AccountFiles, { uid, gid }: Account): void {
  const passwd = readFileSync(files.passwd, "utf8");
  const group = readFileSync(files.group, "utf8");
  const isTaken = group.split("\n").some((line) => {
    const [name, , id] = line.split(":");
    return name !== USER && id === String(gid);
  });
  // The user last: where that fails the next boot sees the difference and tries again.
  if (!isTaken) replace(files.group, group, withField(group, 2, gid));
  replace(files.passwd, passwd, withField(withField(passwd, 2, uid), 3, gid));
}

/** Makes the user a member of the groups with these numbers; a number without a group gets `hostgrp<gid>`. */
export function joinGroups(files: AccountFiles, gids: readonly number[]): readonly string[] {
  let text = readFileSync(files.group, "utf8");
  const before = text;
  const joined = gids.map((gid) => {
    const found = text.split("\n").find((line) => line.split(":")[2] === String(gid));
    const line = found ?? `hostgrp${gid}:x:${gid}:`;
    const [name = "", password = "x", id = "", members = ""] = line.split(":");
    const names = members.split(",").filter((member) => member !== "");
    if (!names.includes(USER)) names.push(USER);
    const after = [name, password, id, names.join(",")].join(":");
    text =
      found === undefined
        ? `${text.replace(/\n*$/u, "\n")}${after}\n`
        : text
            .split("\n")
            .map((entry) => (entry === found ? after : entry))
            .join("\n");
    return `${name} (${gid})`;
  });
  replace(files.group, before, text);
  return joined;
}

function replace(path: string, before: string, after: string): void {
  if (after !== before) writeFileAtomic(path, after, { mode: 0o644 });
}

function withField(text: string, index: number, value: number): string {
  return text
    .split("\n")
    .map((line) => {
      const fields = line.split(":");
      return fields[0] === USER ? fields.with(index, String(value)).join(":") : line;
    })
    .join("\n");
}

function lineOf(text: string, name: string): readonly string[] | null {
  const line = text.split("\n").find((entry) => entry.split(":")[0] === name);
  return line?.split(":") ?? null;
}
