// One line per profile for `profile list` and the dashboard. A profile that cannot be read never hides the others.
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { parseConfigText } from "#config/document.ts";
import { evaluateText } from "#config/evaluation.ts";
import { configPathOf, envPathOf, readText } from "#config/files.ts";
import { getAt } from "#config/plain.ts";
import { readActiveName } from "./active.ts";
import { readDescription } from "./description.ts";
import { findProfiles, type IgnoredEntry } from "./find.ts";
import { SOUL_FILE } from "./home.ts";
import type { ProfileRef } from "./hook.ts";
import { DEFAULT_PROFILE } from "./name.ts";

export interface ProfileSummary extends ProfileRef {
  readonly isDefault: boolean;
  readonly isActive: boolean;
  readonly description: string;
  /** As its `config.yaml` says; null when that cannot be read. Variables are not looked at. */
  readonly model: { readonly provider: string; readonly id: string } | null;
  readonly skillCount: number;
  readonly hasEnv: boolean;
  readonly hasSoul: boolean;
}

export interface ProfileList {
  readonly profiles: readonly ProfileSummary[];
  readonly ignored: readonly IgnoredEntry[];
  /** Set when `active_profile` names none of them. */
  readonly unknownActive: string | null;
}

export function listProfiles(root: string): ProfileList {
  const active = readActiveName(root);
  const { profiles, ignored } = findProfiles(root);
  const isKnown = profiles.some((profile) => profile.name === active);
  return {
    profiles: profiles.map((profile) => summarise(profile, active)),
    ignored,
    unknownActive: isKnown ? null : active,
  };
}

/** `profile show` and each row of the list. */
export function summarise(profile: ProfileRef, activeName: string): ProfileSummary {
  const { name, home } = profile;
  return {
    ...profile,
    isDefault: name === DEFAULT_PROFILE,
    isActive: name === activeName,
    description: readDescription(home),
    model: modelOf(home),
    skillCount: countSkills(home),
    hasEnv: existsSync(envPathOf(home)),
    hasSoul: existsSync(join(home, SOUL_FILE)),
  };
}

function modelOf(home: string): ProfileSummary["model"] {
  const file = readText(configPathOf(home));
  if (file.state === "missing") return { provider: "auto", id: "" };
  const parsed = file.state === "text" ? parseConfigText(file.text) : null;
  if (parsed?.ok !== true) return null;
  const { value } = evaluateText(parsed.document, () => undefined);
  const [provider, id] = ["provider", "default"].map((key) => getAt(value, ["model", key]));
  return typeof provider === "string" && typeof id === "string" ? { provider, id } : null;
}

function countSkills(home: string): number {
  try {
    return globSync("skills/*/*/SKILL.md", { cwd: home }).length;
  } catch {
    return 0;
  }
}
