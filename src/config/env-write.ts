// Changing `.env` of a home.
import { join } from "node:path";
import { setEnvText, unsetEnvText } from "./env-edit.ts";
import { parseEnv } from "./env-file.ts";
import { envPathOf } from "./files.ts";
import { changeText, underConfigLock, type WriteTarget } from "./home-writer.ts";

/** Sets one name; a new file gets mode 0600. Throws `ENV_EDIT_REFUSED` for names and values it may not write. */
export function setEnvValue(target: WriteTarget, name: string, value: string): Promise<boolean> {
  return changeEnv(target, (text) => setEnvText(text, name, value));
}

/** Removes every line that sets the name. False when there is none. */
export function unsetEnvValue(target: WriteTarget, name: string): Promise<boolean> {
  return changeEnv(target, (text) => (parseEnv(text).has(name) ? unsetEnvText(text, name) : text));
}

function changeEnv(target: WriteTarget, change: (text: string) => string): Promise<boolean> {
  return underConfigLock(target, () =>
    changeText({
      path: envPathOf(target.home),
      mode: 0o600,
      backupDir: join(target.home, "backups"),
      change: (before) => change(before ?? ""),
    }),
  );
}
