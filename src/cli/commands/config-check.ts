// `hermes config check` and `hermes config migrate` (agent.md §1.5, §2.4).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { checkConfig, type ConfigCheck } from "#config/check.ts";
import { migrateConfig } from "#config/migrate.ts";
import { configTarget } from "../config-target.ts";
import { flagOption, type Context } from "../context.ts";

export async function check({ launch, io }: Context): Promise<ExitCode> {
  const found = checkConfig({ home: launch.home, processEnv: launch.env });
  if (io.json) io.object({ ...found });
  else for (const text of checkLines(found)) io.line(text);
  const isSound = found.state === "ok" || found.state === "missing";
  return isSound && found.invalid.length === 0 ? EXIT.ok : EXIT.failed;
}

/** One line each, with its place in the file. */
export function checkLines(found: ConfigCheck): readonly string[] {
  const at = (place: { readonly line: number | null }): string =>
    place.line === null ? "" : ` (line ${place.line})`;
  const lines = [`${found.path}: ${found.state}`];
  if (found.error) lines.push(`✗ ${found.error.message}${at(found.error)}`);
  for (const entry of found.invalid) {
    lines.push(`${entry.level === "error" ? "✗" : "!"} ${entry.message}${at(entry)}`);
  }
  for (const entry of found.unknown) {
    const nearest = entry.nearest.length === 0 ? "" : `; nearest: ${entry.nearest.join(", ")}`;
    lines.push(`! ${entry.key} is no setting of this version${nearest}${at(entry)}`);
  }
  for (const entry of found.legacy) {
    const means = entry.means === null ? "" : `, today ${entry.means}`;
    lines.push(`! ${entry.key}${means}: ${entry.note}${at(entry)}`);
  }
  return lines;
}

export async function migrate({ launch, line, io }: Context): Promise<ExitCode> {
  const dryRun = flagOption(line.options, "dryRun");
  const result = await migrateConfig(configTarget(launch), dryRun);
  if (result.outcome === "failed") {
    throw new HermesError("MIGRATION_FAILED", result.message, {
      fix: "Look at it: hermes config check",
    });
  }
  if (io.json) io.object({ ...result });
  else if (result.outcome === "current") io.line(`Nothing to do: version ${result.version}.`);
  else if (result.outcome === "planned")
    io.line(`Would go from version ${result.from} to ${result.to}.`);
  else io.line(`Version ${result.from} → ${result.to}; copies: ${result.backups.join(", ")}`);
  return EXIT.ok;
}
