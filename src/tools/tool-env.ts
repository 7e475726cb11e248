// The environment of tool processes, built from nothing (agent.md §5.5, field-rules J07).
import { join } from "node:path";
import type { ToolBoxDeps } from "./deps.ts";
import { ENV_ALLOW } from "./policy.ts";

type EnvDeps = Pick<
  ToolBoxDeps,
  "home" | "profile" | "sessionId" | "env" | "inContainer" | "settings"
>;

const NEVER = ENV_ALLOW.never.map((name) => new RegExp(`^${name.replaceAll("*", ".*")}$`, "i"));

/** True for names that no configuration can let through. */
export function isNeverPassed(name: string): boolean {
  return NEVER.some((pattern) => pattern.test(name));
}

/** HOME of tool processes: `<home>/home` in a container or with `home_mode: profile`, else the user's. */
export function toolHome(deps: EnvDeps): string {
  const own = join(deps.home, "home");
  const real = deps.env("HOME") ?? own;
  switch (deps.settings.terminal.home_mode) {
    case "real":
      return real;
    case "profile":
      return own;
    default:
      return deps.inContainer ? own : real;
  }
}

/** Allow-listed names that are set, then `terminal.env_passthrough`, then what is always the same. */
export function toolEnvironment(deps: EnvDeps, cwd: string): Readonly<Record<string, string>> {
  const env: Record<string, string> = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
  };
  for (const name of [...ENV_ALLOW.allow, ...deps.settings.terminal.env_passthrough]) {
    const value = deps.env(name);
    if (value !== undefined && value !== "" && !isNeverPassed(name)) env[name] = value;
  }
  return {
    ...env,
    HOME: toolHome(deps),
    TERM: "dumb",
    PWD: cwd,
    HERMES_HOME: deps.home,
    HERMES_PROFILE: deps.profile,
    HERMES_SESSION_ID: deps.sessionId,
  };
}
