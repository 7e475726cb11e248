// Bringing `config.yaml` up to this version's layout: it only adds (agent.md §2.4).
import { chmodSync, constants, copyFileSync, existsSync, readFileSync } from "node:fs";
import { errnoOf, messageOf } from "#base/errors.ts";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { parseConfigText } from "./document.ts";
import { configPathOf, envPathOf, readText } from "./files.ts";
import { underConfigLock, type WriteTarget } from "./home-writer.ts";
import { WrittenNumber } from "./plain.ts";
import { CONFIG_VERSION } from "./seed.ts";
import { editConfigText } from "./yaml-edit.ts";

export type Migration =
  /** Nothing to do: no file, or one of this version or of a later one. */
  | { readonly outcome: "current"; readonly version: number }
  /** What `config migrate --dry-run` shows; nothing was written. */
  | {
      readonly outcome: "planned";
      readonly from: number;
      readonly to: number;
      readonly text: string;
    }
  | {
      readonly outcome: "migrated";
      readonly from: number;
      readonly to: number;
      readonly backups: readonly string[];
    }
  /** The file is as it was; the caller warns and goes on. */
  | { readonly outcome: "failed"; readonly message: string };

/** Never throws. `.env` is copied, never opened for writing; a broken file is left alone. */
export async function migrateConfig(target: WriteTarget, dryRun: boolean): Promise<Migration> {
  try {
    const plan = planOf(target.home);
    if (plan.outcome !== "planned" || dryRun) return plan;
    return await underConfigLock(target, () => migrate(target));
  } catch (cause) {
    return { outcome: "failed", message: messageOf(cause) };
  }
}

type Plan = Exclude<Migration, { outcome: "migrated" }>;

function planOf(home: string): Plan {
  const path = configPathOf(home);
  const file = readText(path);
  if (file.state === "missing") return { outcome: "current", version: CONFIG_VERSION };
  if (file.state === "unreadable") return { outcome: "failed", message: file.problem.message };
  const parsed = file.state === "text" ? parseConfigText(file.text) : null;
  if (file.state !== "text" || parsed === null || !parsed.ok) {
    return { outcome: "failed", message: `${path} is broken and left alone` };
  }
  const written = parsed.document.raw["_config_version"];
  // A file without a version was written by hand for this one.
  const from = written instanceof WrittenNumber ? written.value : CONFIG_VERSION;
  if (from >= CONFIG_VERSION) return { outcome: "current", version: from };
  const text = editConfigText(file.text, { path: ["_config_version"], value: CONFIG_VERSION });
  return { outcome: "planned", from, to: CONFIG_VERSION, text };
}

function migrate({ home, clock }: WriteTarget): Migration {
  const plan = planOf(home);
  if (plan.outcome !== "planned") return plan;
  const path = configPathOf(home);
  const stamp = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, "");
  const copy = backUp(path, stamp);
  const backups = existsSync(envPathOf(home)) ? [copy, backUp(envPathOf(home), stamp)] : [copy];
  try {
    writeFileAtomic(path, plan.text, { mode: 0o640 });
    const again = planOf(home);
    if (again.outcome !== "current") throw new Error(`${path} does not read as written`);
  } catch (cause) {
    writeFileAtomic(path, readFileSync(copy), { mode: 0o640 });
    return { outcome: "failed", message: messageOf(cause) };
  }
  return { outcome: "migrated", from: plan.from, to: plan.to, backups };
}

/** Never over an older copy: a second one in the same second gets `.1`, `.2`, … */
function backUp(path: string, stamp: string): string {
  for (let count = 0; ; count++) {
    const copy = `${path}.bak-${stamp}${count === 0 ? "" : `.${count}`}`;
    try {
      copyFileSync(path, copy, constants.COPYFILE_EXCL);
      chmodSync(copy, 0o600);
      return copy;
    } catch (cause) {
      if (errnoOf(cause) !== "EEXIST" || count >= 100) throw cause;
    }
  }
}
