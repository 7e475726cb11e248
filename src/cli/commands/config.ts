// `hermes config` (agent.md §1.3, §2).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { nearestWords } from "#base/text.ts";
import { unsetEnvValue, setEnvValue } from "#config/env-write.ts";
import { isSecretName } from "#config/env.ts";
import { configPathOf, envPathOf } from "#config/files.ts";
import { joinKey, splitKey } from "#config/keys.ts";
import { getAt } from "#config/plain.ts";
import { leavesOf, nodeAt } from "#config/shape.ts";
import { replaceConfigText, setConfigValue, unsetConfigValue } from "#config/write.ts";
import { usageError } from "../command-line.ts";
import { openConfigSource } from "../config-source.ts";
import { configTarget } from "../config-target.ts";
import { flagOption, textOption, type Context } from "../context.ts";
import { maskedConfig } from "../masked-config.ts";
import { check, migrate } from "./config-check.ts";

const ACTIONS: Readonly<Record<string, (context: Context) => Promise<ExitCode>>> = {
  show,
  get,
  set,
  unset,
  edit,
  path: async (context) => printPath(context, configPathOf(context.launch.home)),
  "env-path": async (context) => printPath(context, envPathOf(context.launch.home)),
  check,
  migrate,
};

export async function run(context: Context): Promise<ExitCode> {
  const action = ACTIONS[context.line.path[1] ?? ""];
  if (!action) throw new Error(`no action for ${context.line.path.join(" ")}`);
  return action(context);
}

function printPath({ io }: Context, path: string): ExitCode {
  if (io.json) io.object({ path });
  else io.line(path);
  return EXIT.ok;
}

async function show({ launch, io }: Context): Promise<ExitCode> {
  const source = openConfigSource(launch);
  const masked = source.redactor.value(maskedConfig(source.loaded().config));
  if (io.json) io.object({ config: masked });
  else {
    const { stringify } = await import("../yaml-text.ts");
    io.write(stringify(masked));
  }
  return EXIT.ok;
}

async function get({ launch, line, io }: Context): Promise<ExitCode> {
  const key = line.operands[0] ?? "";
  const source = openConfigSource(launch);
  const { config, env } = source.loaded();
  if (isSecretName(key)) {
    const isSet = env.get(key) !== undefined;
    if (io.json) io.object({ value: null, set: isSet });
    else io.line(isSet ? "set" : "not set");
    return EXIT.ok;
  }
  const value = source.redactor.value(getAt(maskedConfig(config), pathIn(config, key)));
  if (value === undefined) throw unknownKey(key);
  if (io.json) io.object({ value });
  else if (typeof value === "string") io.line(value);
  else {
    const { stringify } = await import("../yaml-text.ts");
    io.write(stringify(value));
  }
  return EXIT.ok;
}

/** As `config set` reads it: a key that exists with dots in its name wins. */
function pathIn(config: unknown, key: string): readonly string[] {
  const path = splitKey(key);
  if (getAt(config, path) !== undefined) return path;
  return getAt(config, [key]) === undefined ? path : [key];
}

function knownKeys(): readonly string[] {
  return [...leavesOf()].map((leaf) => joinKey(leaf.path));
}

function unknownKey(key: string): HermesError {
  const nearest = nearestWords(key, knownKeys());
  return new HermesError("KEY_UNKNOWN", `There is no setting ${key}.`, {
    exit: EXIT.usage,
    ...(nearest.length === 0 ? {} : { fix: `Nearest: ${nearest.join(", ")}` }),
  });
}

async function set({ launch, line, io }: Context): Promise<ExitCode> {
  const [key = "", given = ""] = line.operands;
  const value = given === "-" ? (await readAll(io.stdin)).replace(/\r?\n$/, "") : given;
  const target = configTarget(launch);
  if (isSecretName(key)) {
    await setEnvValue(target, key, value);
    report(io, { file: envPathOf(launch.home) }, `${key} is saved in ${envPathOf(launch.home)}.`);
    return EXIT.ok;
  }
  await setConfigValue(target, key, value, flagOption(line.options, "string"));
  if (nodeAt(splitKey(key)) === null) warnUnknown(io, key);
  report(
    io,
    { file: configPathOf(launch.home) },
    `${key} is saved in ${configPathOf(launch.home)}.`,
  );
  return EXIT.ok;
}

function warnUnknown(io: Context["io"], key: string): void {
  const nearest = nearestWords(key, knownKeys());
  const hint = nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`;
  io.note(`hermes: ${key} is no setting of this version; it is kept in the file.${hint}`);
}

async function unset({ launch, line, io }: Context): Promise<ExitCode> {
  const key = line.operands[0] ?? "";
  const target = configTarget(launch);
  const changed = isSecretName(key)
    ? await unsetEnvValue(target, key)
    : await unsetConfigValue(target, key);
  report(io, { changed }, changed ? `${key} is back to its default.` : `${key} was not set.`);
  return EXIT.ok;
}

function report(io: Context["io"], object: Readonly<Record<string, unknown>>, text: string): void {
  if (io.json) io.object(object);
  else io.note(text);
}

/** A file that does not exist yet is made first, so that there is something to edit. */
async function edit(context: Context): Promise<ExitCode> {
  const { launch, io } = context;
  const path = configPathOf(launch.home);
  const editor = textOption({ editor: launch.env["EDITOR"] }, "editor");
  if (!editor || !io.interactive) {
    io.line(path);
    throw usageError("config edit needs $EDITOR and a terminal.", "Edit the file above by hand.");
  }
  if (!existsSync(path)) {
    const { NEW_CONFIG_TEXT } = await import("#config/write.ts");
    await replaceConfigText(configTarget(launch), NEW_CONFIG_TEXT);
  }
  const [program = "", ...args] = editor.split(" ").filter((word) => word !== "");
  const { status, error } = spawnSync(program, [...args, path], { stdio: "inherit" });
  if (error) throw usageError(`$EDITOR (${editor}) does not start: ${error.message}.`);
  if (status !== 0) return EXIT.failed;
  return check(context);
}
