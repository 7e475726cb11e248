// `profile export`: one `.tar.gz` without secrets, history and traces of running (agent.md §8).
import {
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, HermesError } from "#base/errors.ts";
import { readText } from "#config/files.ts";
import type { ProfileRef } from "./hook.ts";
import { withoutOwn, withoutSecrets } from "./shareless.ts";
import { TRAVELS } from "./travels.ts";

/** Writes `file`, which must not exist. Returns its size in bytes. Throws `EXPORT_EXISTS`. */
export async function exportProfile(profile: ProfileRef, file: string): Promise<number> {
  const target = resolve(file);
  reserve(target);
  const staging = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  try {
    const top = join(staging, profile.name);
    mkdirSync(top);
    for (const entry of TRAVELS) copyEntry(profile.home, top, entry);
    const { create } = await import("tar");
    await create({ gzip: true, portable: true, cwd: staging, file: target }, [profile.name]);
    return statSync(target).size;
  } catch (cause) {
    rmSync(target, { force: true });
    throw cause;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function reserve(target: string): void {
  try {
    closeSync(openSync(target, "wx", 0o600));
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
    throw new HermesError("EXPORT_EXISTS", `${target} exists already`, {
      fix: "Choose another file with -o FILE.",
    });
  }
}

/** Links do not travel: they may lead anywhere. */
function copyEntry(home: string, top: string, entry: string): void {
  const source = join(home, entry);
  const found = lstatSync(source, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  if (entry === "config.yaml") return writeConfig(source, join(top, entry));
  cpSync(source, join(top, entry), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => {
      const each = lstatSync(path);
      return each.isFile() || each.isDirectory();
    },
  });
  return undefined;
}

function writeConfig(source: string, target: string): void {
  const file = readText(source);
  if (file.state === "missing") return;
  if (file.state !== "text") {
    throw new HermesError("EXPORT_UNREADABLE", `${source} cannot be read as text`, {
      fix: "Repair it first.",
    });
  }
  writeFileSync(target, withoutSecrets(withoutOwn(file.text)), { mode: 0o640 });
}
