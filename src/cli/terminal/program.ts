// What runs in a terminal of the browser, and with which environment (dashboard.md §9.4).
import { join } from "node:path";
import type { TerminalRequest } from "#dashboard/pty-port.ts";
import type { Program } from "./frames.ts";

export interface ProgramFacts {
  /** Of the dashboard. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that holds bin/. */
  readonly project: string;
  /** Home of the default profile. */
  readonly root: string;
}

/** Of the service, not of what it starts. */
const SLOT_VARIABLES: ReadonlySet<string> = new Set([
  "HERMES_SLOT",
  "HERMES_SLOT_DIR",
  "HERMES_READY_FD",
  "HERMES_S6_SUPERVISED_CHILD",
]);

/** Always with `-p`: which profile is the active one was found out at the request. */
export function terminalProgram(facts: ProgramFacts, request: TerminalRequest): Program {
  const { profile, cols, rows } = request;
  const launcher = join(facts.project, "bin", "hermes.mjs");
  return {
    file: process.execPath,
    args: [...process.execArgv, launcher, "-p", profile, "--tui"],
    cwd: process.cwd(),
    env: terminalEnvironment(facts, request),
    cols,
    rows,
  };
}

function terminalEnvironment(
  { env, root }: ProgramFacts,
  { resume }: TerminalRequest,
): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    const isOurs = name.startsWith("HERMES_DASHBOARD_") || SLOT_VARIABLES.has(name);
    return value !== undefined && !isOurs && name !== "HERMES_TUI_RESUME";
  });
  return {
    ...Object.fromEntries(kept),
    HERMES_HOME: root,
    TERM: "xterm-256color",
    ...(resume === null ? {} : { HERMES_TUI_RESUME: resume }),
  };
}
