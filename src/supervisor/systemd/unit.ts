// Units of the user's systemd (container.md §7.4): one file per service, which names the home it belongs to, so that the gateway
// of another home is never taken for ours (field-rules D07).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_PROFILE, isProfileName } from "#profile/name.ts";
import type { SlotId } from "../slot-name.ts";
import { slotName } from "../slot-name.ts";

export interface UnitLayout {
  /** Where the user manager looks for units; absolute. */
  readonly directory: string;
  /** Node, its options, and the launcher: what runs before the words of a command. */
  readonly program: readonly string[];
  /** Root home, absolute. */
  readonly root: string;
  /** PATH of the service: the user manager's own lacks what the user's programs lie in. */
  readonly path: string;
}

/** `$XDG_CONFIG_HOME/systemd/user` (systemd.unit(5)). */
export function unitDirectory(env: Readonly<Record<string, string | undefined>>): string {
  const config = env["XDG_CONFIG_HOME"];
  const base = config !== undefined && config !== "" ? config : join(env["HOME"] ?? "/", ".config");
  return join(base, "systemd", "user");
}

/** `hermes-dashboard.service`, `hermes-gateway.service`, `hermes-gateway-<profile>.service`. */
export function unitName({ kind, profile }: SlotId): string {
  const isDefault = kind === "gateway" && profile === DEFAULT_PROFILE;
  return isDefault ? "hermes-gateway.service" : `hermes-${slotName({ kind, profile })}.service`;
}

/** null for any name that is no unit of ours. */
export function parseUnitName(name: string): SlotId | null {
  if (name === "hermes-dashboard.service") return { kind: "dashboard", profile: DEFAULT_PROFILE };
  if (name === "hermes-gateway.service") return { kind: "gateway", profile: DEFAULT_PROFILE };
  const profile = /^hermes-gateway-(.+)\.service$/u.exec(name)?.[1];
  if (profile === undefined || profile === DEFAULT_PROFILE || !isProfileName(profile)) return null;
  return { kind: "gateway", profile };
}

/**
 * s6's rules in systemd's words: 0, 64 and 78 stay down, anything else starts again after a second, for ever. Not even 75
 * is a failure. The slot's name reaches tools, so that a restart from inside waits for the turn. `env` stands in front since
 * systemd refuses a program whose own path holds quotes, a backslash or a dollar sign (systemd.service(5), "Command lines").
 */
export function renderUnit(id: SlotId, layout: UnitLayout): string {
  const words = [...layout.program, ...wordsOf(id)].map((word) =>
    quote(word).replaceAll("$", "$$$$"),
  );
  return `[Unit]
Description=Hermes ${id.kind === "dashboard" ? "dashboard" : `gateway, profile ${id.profile}`}
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/env ${words.join(" ")}
${homeLine(layout.root)}
Environment=${quote(`HERMES_SLOT=${slotName(id)}`)}
Environment=${quote(`PATH=${layout.path}`)}
Restart=always
RestartSec=1
SuccessExitStatus=75
RestartPreventExitStatus=0 64 78
TimeoutStopSec=10

[Install]
WantedBy=default.target
`;
}

function wordsOf({ kind, profile }: SlotId): readonly string[] {
  return kind === "dashboard"
    ? ["dashboard", "--no-open"]
    : ["-p", profile, "gateway", "run", "--no-supervise"];
}

const homeLine = (root: string): string => `Environment=${quote(`HERMES_HOME=${root}`)}`;

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "%": "%%",
};

/** One word as systemd.syntax(7) reads it, specifiers off. */
function quote(word: string): string {
  return `"${word.replaceAll(/[\\"\n\r\t%]/gu, (char) => ESCAPES[char] ?? char)}"`;
}

export type UnitFile = "none" | "ours" | "foreign";

/** Whose unit lies under this name: one of another home, or one that we did not write, is foreign. */
export function whoseUnit({ directory, root }: UnitLayout, id: SlotId): UnitFile {
  try {
    const lines = readFileSync(join(directory, unitName(id)), "utf8").split("\n");
    return lines.includes(homeLine(root)) ? "ours" : "foreign";
  } catch {
    return "none";
  }
}

/** Services with a unit of this home, sorted by slot. */
export function listUnits(layout: UnitLayout): readonly SlotId[] {
  try {
    return readdirSync(layout.directory)
      .map(parseUnitName)
      .filter((id) => id !== null)
      .filter((id) => whoseUnit(layout, id) === "ours")
      .sort((a, b) => (slotName(a) < slotName(b) ? -1 : 1));
  } catch {
    return [];
  }
}
