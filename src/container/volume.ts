// Steps H1 to H7: the volume, as the user hermes (container.md §3). Each changes nothing when it is run again.
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf, HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { ensureHome } from "#profile/home.ts";
import type { BootLog } from "./boot-log.ts";
import type { ContainerEnv, Env } from "./environment.ts";

/** H1: the volume takes writes. Throws VOLUME_NOT_WRITABLE (78) naming path, owner, mode and the uid. */
export function probeVolume(home: string): void {
  const path = join(home, `.hermes-write-probe.${process.pid}`);
  try {
    const file = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    try {
      writeSync(file, "ok");
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw notWritable(home, error);
  } finally {
    rmSync(path, { force: true });
  }
}

function notWritable(home: string, error: unknown): HermesError {
  const found = statSync(home, { throwIfNoEntry: false });
  const access = found
    ? ` It belongs to ${found.uid}:${found.gid}, mode ${(found.mode & 0o7777).toString(8)}.`
    : " It does not exist.";
  const uid = process.getuid?.() ?? "unknown";
  const fix =
    errnoOf(error) === "ENOSPC"
      ? "Make room on the disk of the volume."
      : "Start as root with HERMES_UID and HERMES_GID of its owner, give it to this user, or mount it writable.";
  return new HermesError(
    "VOLUME_NOT_WRITABLE",
    `${home} cannot be written as uid ${uid}: ${errnoOf(error) ?? messageOf(error)}.${access}`,
    { exit: EXIT.refused, setting: "HERMES_HOME", fix, cause: error },
  );
}

/** H2 and H4: folders and first files. A link in their way is refused out loud. */
export function makeFolders({ home, homeMode }: ContainerEnv, log: BootLog): void {
  try {
    ensureHome(home, homeMode ?? undefined);
  } catch (error) {
    log.warn(messageOf(error));
  }
  for (const path of ["dashboard", "logs/gateways", "logs/dashboard"]) makeFolder(home, path, log);
}

function makeFolder(home: string, path: string, log: BootLog): void {
  const parts = path.split("/");
  for (let count = 1; count <= parts.length; count++) {
    const current = join(home, ...parts.slice(0, count));
    const found = lstatSync(current, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      log.warn(`refusing to use ${current}: it is a link`);
      return;
    }
    if (found) continue;
    try {
      mkdirSync(current, { mode: path === "dashboard" ? 0o700 : 0o750 });
    } catch (error) {
      log.warn(`${current} cannot be made: ${errnoOf(error) ?? messageOf(error)}`);
      return;
    }
  }
}

/** H3: a volume that once served as an install tree must not make a later host install look like the image. */
export function dropStaleMethod(home: string, log: BootLog): void {
  const path = join(home, ".install_method");
  try {
    if (readFileSync(path, "utf8").trim() === "docker") unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") log.warn(`${path}: ${errnoOf(error) ?? messageOf(error)}`);
  }
}

/** H4: secrets are readable by their owner only, at each boot. */
export function closeSecrets(home: string, log: BootLog): void {
  for (const name of [".env", "auth.json"]) {
    const path = join(home, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) log.warn(`refusing to change the mode of ${path}: it is a link`);
    else if (found && (found.mode & 0o077) !== 0) {
      try {
        chmodSync(path, 0o600);
      } catch (error) {
        log.warn(`${path} stays readable for others: ${errnoOf(error) ?? messageOf(error)}`);
      }
    }
  }
}

/** H5: `auth.json` from HERMES_AUTH_JSON_BOOTSTRAP or its twin, once, if it is a JSON object. Its content is never logged. */
export function seedAuth(home: string, env: Env, log: BootLog): void {
  const text = bootstrapText(env);
  if (text === null) return;
  const path = join(home, "auth.json");
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  if (!isObject(text)) {
    log.warn("HERMES_AUTH_JSON_BOOTSTRAP is not a JSON object and is not used");
    return;
  }
  create(path, text, 0o600, log);
}

/** Throws ENV_FILE_AND_VALUE or SECRET_FILE_UNREADABLE (78), as every reader of a twin does (container.md §5). */
function bootstrapText(env: Env): string | null {
  const [value, path] = [
    env["HERMES_AUTH_JSON_BOOTSTRAP"] ?? "",
    env["HERMES_AUTH_JSON_BOOTSTRAP_FILE"] ?? "",
  ];
  if (value !== "" && path !== "") {
    throw new HermesError(
      "ENV_FILE_AND_VALUE",
      "HERMES_AUTH_JSON_BOOTSTRAP and HERMES_AUTH_JSON_BOOTSTRAP_FILE are both set.",
      { exit: EXIT.refused, setting: "HERMES_AUTH_JSON_BOOTSTRAP", fix: "Unset one of them." },
    );
  }
  if (path === "") return value === "" ? null : value;
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/u, "");
  } catch (error) {
    throw new HermesError(
      "SECRET_FILE_UNREADABLE",
      `HERMES_AUTH_JSON_BOOTSTRAP_FILE=${path} cannot be read as uid ${process.getuid?.() ?? "unknown"}: ${errnoOf(error) ?? messageOf(error)}.`,
      {
        exit: EXIT.refused,
        setting: "HERMES_AUTH_JSON_BOOTSTRAP_FILE",
        fix: "Make the file readable for this user.",
      },
    );
  }
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
  create(join(home, "gateway_state.json"), '{"gateway_state":"running"}\n', 0o644, log);
}

/** Never over anything, never through a link. */
function create(path: string, text: string, mode: number, log: BootLog): void {
  try {
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
    const file = openSync(path, flags, mode);
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink) log.warn(`refusing to write through the link ${path}`);
    else if (errnoOf(error) !== "EEXIST")
      log.warn(`${path} cannot be written: ${errnoOf(error) ?? messageOf(error)}`);
  }
}
