// What setup reads from the container's environment (container.md §5, step R1). One reader, all problems at once.
import { posix } from "node:path";
import { parseSwitch } from "#base/booleans.ts";
import { HermesError, type Problem } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { nearestWords } from "#base/text.ts";
import { VARIABLES, variableOf } from "#config/env.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface ContainerEnv {
  /** Root home, absolute. */
  readonly home: string;
  /** null: as the image has it. */
  readonly uid: number | null;
  readonly gid: number | null;
  /** Seconds that the runtime allows a stop. */
  readonly stopGrace: number;
  /** Octal mode forced on the home; null: left alone. */
  readonly homeMode: number | null;
  readonly dashboard: boolean;
  readonly noSupervise: boolean;
  readonly dockerSocket: boolean;
  readonly skipMigration: boolean;
  readonly noTee: boolean;
  readonly bootLog: boolean;
  /** null: all of them. */
  readonly gatewayProfiles: readonly string[] | null;
  /** Exactly `running`, or nothing. */
  readonly bootstrapRunning: boolean;
  readonly notices: readonly string[];
}

const ID_MAX = 65_534;
const GRACE = { default: 10, min: 4, max: 3600 } as const;
const SWITCHES = {
  dashboard: "HERMES_DASHBOARD",
  noSupervise: "HERMES_GATEWAY_NO_SUPERVISE",
  dockerSocket: "HERMES_DOCKER_SOCKET",
  skipMigration: "HERMES_SKIP_CONFIG_MIGRATION",
  noTee: "HERMES_LOG_NO_TEE",
  bootLog: "HERMES_BOOT_LOG",
} as const;

/** Directories of the image. Setup would give a home there to hermes, and root runs what lies in them. */
const SYSTEM =
  /^\/(?:(?:bin|boot|command|dev|etc|lib|lib32|lib64|libx32|opt\/hermes|package|proc|run|sbin|sys|usr)(?:\/.*)?|home|media|mnt|opt|srv|tmp|var)?$/u;
/** The scripts of the slots and s6-log split at these. */
const UNSAFE = /[\s"'\\`$*?[\]{}|;&<>()#]/u;

/** Throws CONTAINER_ENV (78) with every bad home, uid, gid, grace and mode. What only a service reads is that service's refusal. */
export function readContainerEnv(env: Env): ContainerEnv {
  const problems: Problem[] = [];
  const notices: string[] = [...unknownNames(env)];
  const switches = Object.fromEntries(
    Object.entries(SWITCHES).map(([key, name]) => [key, readSwitch(env, name, notices)]),
  ) as Record<keyof typeof SWITCHES, boolean>;
  const result: ContainerEnv = {
    home: readHome(env, problems),
    uid: readId(env, ["HERMES_UID", "PUID"], problems),
    gid: readId(env, ["HERMES_GID", "PGID"], problems),
    stopGrace: readGrace(env, problems),
    homeMode: readMode(env, problems),
    ...switches,
    gatewayProfiles: readList(env["HERMES_GATEWAY_PROFILES"]),
    bootstrapRunning: readBootstrap(env, notices),
    notices,
  };
  if (problems.length === 0) return result;
  throw new HermesError("CONTAINER_ENV", "The container cannot start with these settings.", {
    exit: EXIT.refused,
    problems,
  });
}

function readSwitch(env: Env, name: string, notices: string[]): boolean {
  const state = parseSwitch(env[name]);
  if (state === "unclear") {
    notices.push(
      `${name}=${env[name] ?? ""} is neither on (1, true, yes) nor off (0, false, no): taken as off`,
    );
  }
  return state === "on";
}

function readHome(env: Env, problems: Problem[]): string {
  const home = env["HERMES_HOME"] || "/opt/data";
  if (!home.startsWith("/") || UNSAFE.test(home))
    problems.push(bad("HERMES_HOME", home, "an absolute path without spaces and quotes"));
  else if (SYSTEM.test(posix.resolve(home)))
    problems.push(bad("HERMES_HOME", home, "a directory of its own, it belongs to the system"));
  return home;
}

/** The first of the names that is set; empty is not set. */
function readId(env: Env, names: readonly string[], problems: Problem[]): number | null {
  const name = names.find((candidate) => (env[candidate] ?? "") !== "");
  if (name === undefined) return null;
  const text = env[name] ?? "";
  const id = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  if (id >= 1 && id <= ID_MAX) return id;
  problems.push(bad(name, text, `a whole number from 1 to ${ID_MAX}`));
  return null;
}

function readGrace(env: Env, problems: Problem[]): number {
  const text = env["HERMES_STOP_GRACE"] ?? "";
  if (text === "") return GRACE.default;
  const seconds = /^\d{1,4}$/u.test(text) ? Number(text) : 0;
  if (seconds >= GRACE.min && seconds <= GRACE.max) return seconds;
  problems.push(bad("HERMES_STOP_GRACE", text, `whole seconds from ${GRACE.min} to ${GRACE.max}`));
  return GRACE.default;
}

function readMode(env: Env, problems: Problem[]): number | null {
  const text = env["HERMES_HOME_MODE"] ?? "";
  if (text === "") return null;
  if (/^0?7[0-7]{2}$/u.test(text)) return Number.parseInt(text, 8);
  problems.push(
    bad("HERMES_HOME_MODE", text, "an octal mode such as 0750 that gives its owner everything"),
  );
  return null;
}

function readList(text: string | undefined): readonly string[] | null {
  if (text === undefined || text.trim() === "") return null;
  if (text.trim() === "none") return [];
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function readBootstrap(env: Env, notices: string[]): boolean {
  const text = env["HERMES_GATEWAY_BOOTSTRAP_STATE"] ?? "";
  if (text === "" || text === "running") return text === "running";
  notices.push(`HERMES_GATEWAY_BOOTSTRAP_STATE=${text} is ignored: only "running" means something`);
  return false;
}

/** Names of ours that nothing reads, with the nearest one that is read (field-rules F03). */
function unknownNames(env: Env): readonly string[] {
  const known = VARIABLES.map(({ name }) => name);
  return Object.keys(env)
    .filter((name) => /^HERMES_(?:DASHBOARD|GATEWAY)_/u.test(name))
    .filter((name) => variableOf(name) === null && !isTwin(name))
    .sort()
    .map((name) => {
      const [nearest] = nearestWords(name, known);
      return `${name} is not used${nearest === undefined ? "" : `: did you mean ${nearest}?`}`;
    });
}

function isTwin(name: string): boolean {
  return name.endsWith("_FILE") && variableOf(name.slice(0, -"_FILE".length))?.secret === true;
}

function bad(name: string, value: string, wanted: string): Problem {
  return {
    code: "CONTAINER_ENV_VALUE",
    level: "error",
    setting: name,
    message: `${name}=${value} is not ${wanted}.`,
    fix: `Correct ${name}, or leave it out.`,
  };
}
