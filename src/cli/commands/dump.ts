// `hermes dump` (agent.md §11.4): plain text for a bug report. No secret, no message, no user id, no path of the machine.
import { arch, platform, release } from "node:os";
import { join } from "node:path";
import type { Redactor } from "#agent/ports/redactor.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { parseLogLine } from "#base/log-lines.ts";
import { VARIABLES } from "#config/env.ts";
import { configDefaults } from "#config/defaults.ts";
import { profileOf, rootOf } from "#config/homes.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { getAt } from "#config/plain.ts";
import { leavesOf, type LeafAt } from "#config/shape.ts";
import { openConfigSource } from "../config-source.ts";
import { flagOption, type Context } from "../context.ts";
import { examine } from "../doctor/examine.ts";
import { readLastLines } from "../log-reader.ts";
import { readCommit, readVersion } from "../version.ts";

const WARNINGS = 50;
/** Free text that is needed to understand a report and says nothing about a person. */
const SHOWN_TEXT = new Set(["model.default", "model.provider", "timezone"]);
const HIDDEN_CATEGORIES = new Set(["security", "gateway"]);

export async function run(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const { loaded, redactor } = read(context);
  const scrub = scrubber(context, redactor);
  const report = await examine(context, false);
  const sections: [string, readonly string[]][] = [
    ["versions", versionLines(context)],
    ["settings", loaded ? settingLines(loaded, flagOption(line.options, "full")) : ["(refused)"]],
    ["environment", environmentLines(context, loaded)],
    [
      "doctor",
      report.sections.flatMap(({ id, items }) =>
        items.map((item) => `${id} ${item.level} ${item.code}: ${item.message}`),
      ),
    ],
    ["warnings", warningLines(launch.home)],
  ];
  const shown = sections.map(([name, lines]) => [name, lines.map(scrub)] as const);
  if (io.json) io.object(Object.fromEntries(shown));
  else for (const [name, lines] of shown) io.write(`## ${name}\n${lines.join("\n")}\n\n`);
  return EXIT.ok;
}

function read({ launch }: Context): {
  loaded: LoadedConfig | null;
  redactor: Pick<Redactor, "text">;
} {
  try {
    const source = openConfigSource(launch);
    return { loaded: source.loaded(), redactor: source.redactor };
  } catch {
    return { loaded: null, redactor: { text: (text) => text } };
  }
}

/** Our layout keeps its names below `<home>`; any other absolute path becomes `<path>`. */
function scrubber({ launch }: Context, redactor: Pick<Redactor, "text">): (line: string) => string {
  const roots: readonly (readonly [string, string])[] = [
    [launch.home, "<home>"],
    [rootOf(launch.home), "<root>"],
    [launch.project, "<project>"],
  ];
  return (line) => {
    let text = redactor.text(line);
    for (const [path, name] of roots) text = text.replaceAll(path, name);
    return text.replaceAll(/(?<![\w>.:/])\/(?!\/)[^\s'",;:)]+/g, "<path>");
  };
}

function versionLines({ launch }: Context): readonly string[] {
  const { version, releaseDate } = readVersion(launch.project);
  return [
    `hermes ${version} (${releaseDate}, ${readCommit(launch.project) ?? "unknown build"})`,
    `node ${process.version}`,
    `${platform()} ${release()} ${arch()}`,
    `profile ${profileOf(launch.home) === "default" ? "default" : "named"}`,
  ];
}

function settingLines(loaded: LoadedConfig, full: boolean): readonly string[] {
  const defaults = configDefaults();
  return [...leavesOf()].flatMap((leaf) => {
    const value = getAt(loaded.config, leaf.path);
    const isDefault = JSON.stringify(value) === JSON.stringify(getAt(defaults, leaf.path));
    if (isDefault && !full) return [];
    return [`${leaf.path.join(".")}: ${shownValue(leaf, value, isDefault)}`];
  });
}

function shownValue({ path, node }: LeafAt, value: unknown, isDefault: boolean): string {
  const { category, secret } = node.meta;
  const mayShow = secret !== true && !HIDDEN_CATEGORIES.has(category);
  const isPlain = typeof value === "boolean" || typeof value === "number";
  const isChoice = node.kind === "leaf" && node.type === "choice";
  if (mayShow && (isPlain || isChoice || SHOWN_TEXT.has(path.join("."))))
    return JSON.stringify(value);
  return isDefault ? "(default)" : "(set)";
}

function environmentLines({ launch }: Context, loaded: LoadedConfig | null): readonly string[] {
  return VARIABLES.map(({ name }) => {
    const source = loaded?.env.source(name) ?? (launch.env[name] ? "env" : null);
    return `${name}: ${source === null ? "not set" : `set (${source})`}`;
  });
}

/** Only what cannot hold a message: time, level, component, code and our own sentence. */
function warningLines(home: string): readonly string[] {
  return readLastLines(join(home, "logs", "errors.log"), WARNINGS, {}).flatMap((raw) => {
    const { at, level, component, message } = parseLogLine(raw);
    return at === null
      ? []
      : [`${new Date(at).toISOString()} ${level ?? ""} ${component ?? ""}: ${message}`];
  });
}
