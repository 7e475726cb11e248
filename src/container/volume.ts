// Steps H1 to H6: the volume, as the user hermes (container.md §3). Each changes nothing when it is run again.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf, HermesError, messageOf, isNoRoom } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { HOME_FILES, HOME_FOLDERS } from "#profile/home.ts";
import type { BootLog } from "./boot-log.ts";
import type { ContainerEnv, Env } from "./environment.ts";
import { makeFolder, seedFile } from "./seed-file.ts";

/** H1: the volume takes writes. Throws VOLUME_NOT_WRITABLE (78) naming path, owner, mode and the uid. */
export function probeVolume(home: string): void {
  const path = join(home, `.hermes-write-probe.${process.pid}`);
  try {
    // Pids repeat from container to container: what a killed boot left is not ours to trip over.
    rmSync(path, { force: true });
    const file = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    try {
      writeSync(file, "ok");
      fsyncSync(file);
    } finally {
      closeSync(file);
      unlinkSync(path);
    }
  } catch (error) {
    throw notWritable(home, error);
  }
}

function notWritable(home: string, error: unknown): HermesError {
  const uid = process.getuid?.() ?? "unknown";
  const fix = isNoRoom(error)
    ? "Make room on the disk of the volume."
    : "Start as root with HERMES_UID and HERMES_GID of its owner, give it to this user, or mount it writable.";
  return new HermesError(
    "VOLUME_NOT_WRITABLE",
    `${home} cannot be written as uid ${uid}: ${errnoOf(error) ?? messageOf(error)}. ${ownerOf(home)}`,
    { exit: EXIT.refused, setting: "HERMES_HOME", fix, cause: error },
  );
}

function ownerOf(home: string): string {
  let found: Stats | undefined;
  try {
    found = statSync(home, { throwIfNoEntry: false });
  } catch {
    return "A folder above it cannot be entered.";
  }
  if (found === undefined) return "It does not exist.";
  return `It belongs to ${found.uid}:${found.gid}, mode ${(found.mode & 0o7777).toString(8)}.`;
}

/** H2: the folders of a home and of its services' logs. A link in their way is refused, the others are made. */
export function makeFolders({ home, homeMode }: ContainerEnv, log: BootLog): void {
  if (homeMode !== null) changeMode(home, homeMode, log);
  for (const [name, mode] of HOME_FOLDERS) makeFolder(home, name, mode, log);
  makeFolder(home, "dashboard", 0o700, log);
  for (const path of ["logs/gateways", "logs/dashboard"]) makeFolder(home, path, 0o750, log);
}

/** H3: a volume that once served as an install tree must not make a later host install look like the image. */
export function dropStaleMethod(home: string, log: BootLog): void {
  const path = join(home, ".install_method");
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && readFileSync(path, "utf8").trim() === "docker") unlinkSync(path);
  } catch (error) {
    log.warn(`${path}: ${errnoOf(error) ?? messageOf(error)}`);
  }
}

/** H4: first files where they are missing; secrets are readable by their owner only, at each boot. */
export function seedFiles(home: string, log: BootLog): void {
  for (const [name, mode, text] of HOME_FILES) {
    // A link that leads to a file is the owner's arrangement; only one that would have to be written through is refused.
    if (!existsSync(join(home, name))) seedFile(join(home, name), text, mode, log);
  }
  for (const name of [".env", "auth.json"]) closeSecret(join(home, name), log);
}

const SECRET_MODE = 0o600;

function closeSecret(path: string, log: BootLog): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) log.warn(`refusing to change the mode of ${path}: it is a link`);
  else if (found?.isFile() && (found.mode & 0o7777) !== SECRET_MODE)
    changeMode(path, SECRET_MODE, log);
}

function changeMode(path: string, mode: number, log: BootLog): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    const why = errnoOf(error) ?? messageOf(error);
    log.warn(`the mode of ${path} cannot be made ${mode.toString(8)}: ${why}`);
  }
}

/** H5: `auth.json` from HERMES_AUTH_JSON_BOOTSTRAP or its twin, once, if it is a JSON object. Its content is never logged. */
export function seedAuth(home: string, env: Env, log: BootLog): void {
  const text = bootstrapText(env);
  if (text === null) return;
  if (isObject(text)) seedFile(join(home, "auth.json"), text, SECRET_MODE, log);
  else log.warn("HERMES_AUTH_JSON_BOOTSTRAP is not a JSON object and is not used");
}

/** Throws ENV_FILE_AND_VALUE or SECRET_FILE_UNREADABLE (78), as every reader of a twin does (container.md §5). */
function bootstrapText(env: Env): string | null {
  const [value, path] = [env[AUTH] ?? "", env[`${AUTH}_FILE`] ?? ""];
  if (value !== "" && path !== "") {
    throw new HermesError("ENV_FILE_AND_VALUE", `${AUTH} and ${AUTH}_FILE are both set.`, {
      exit: EXIT.refused,
      setting: AUTH,
      fix: "Unset one of them.",
    });
  }
  if (path === "") return value === "" ? null : value;
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/u, "");
  } catch (error) {
    throw unreadable(path, error);
  }
}

const AUTH = "HERMES_AUTH_JSON_BOOTSTRAP";

function unreadable(path: string, error: unknown): HermesError {
  const uid = process.getuid?.() ?? "unknown";
  let mode = "";
  try {
    mode = `, mode ${(statSync(path).mode & 0o7777).toString(8)}`;
  } catch {
    // Then there is no mode to name.
  }
  return new HermesError(
    "SECRET_FILE_UNREADABLE",
    `${AUTH}_FILE=${path} cannot be read as uid ${uid}: ${errnoOf(error) ?? messageOf(error)}${mode}.`,
    {
      exit: EXIT.refused,
      setting: `${AUTH}_FILE`,
      fix: "Make the file readable for this user.",
    },
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** H6: a gateway that never ran starts, if the environment says exactly so. */
export function seedGatewayState({ home, bootstrapRunning }: ContainerEnv, log: BootLog): void {
  if (!bootstrapRunning) return;
  seedFile(join(home, "gateway_state.json"), '{"gateway_state":"running"}\n', 0o644, log);
}
