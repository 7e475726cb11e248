// Which writes are asked about (agent.md §5.3, last sentence): outside the working directory, and the persona.
import { basename } from "node:path";
import type { Assessment, RuleHit } from "#agent/ports/tool.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { contains, expandPath, realTarget, type PathGuard } from "./paths.ts";
import { toolHome } from "./tool-env.ts";

/**
 * A write that will be refused anyway is not asked about: `run` refuses it with its own code. `detail` is the change as
 * the user should see it.
 */
export function assessWrite(
  deps: ToolBoxDeps,
  guard: PathGuard,
  input: { readonly path: string; readonly detail: string },
  cwd: string,
): Partial<Assessment> {
  const path = targetOf(deps, guard, input.path, cwd);
  if (path === null) return {};
  const hit = writeRule(deps, path, cwd);
  if (!hit) return {};
  return {
    dangerous: hit,
    kind: "write",
    title: `Write ${path}`,
    detail: input.detail,
    allowKey: `write:${path}`,
    allowListed: deps.settings.command_allowlist.includes(`write:${path}`),
  };
}

function targetOf(deps: ToolBoxDeps, guard: PathGuard, path: string, cwd: string): string | null {
  try {
    return guard.checkWrite(expandPath(path, cwd, toolHome(deps)));
  } catch {
    return null;
  }
}

function writeRule(deps: ToolBoxDeps, path: string, cwd: string): RuleHit | null {
  const home = realTarget(deps.home);
  if (basename(path) === "SOUL.md" && contains(home, path)) {
    return { id: "write/persona", reason: "changes who the agent is" };
  }
  if (deps.unattended && (contains(`${home}/memories`, path) || contains(`${home}/skills`, path))) {
    return {
      id: "write/memory-unattended",
      reason: "changes what the agent remembers while nobody watches",
    };
  }
  if (!contains(realTarget(cwd), path)) {
    return { id: "write/outside-cwd", reason: "lies outside the working directory" };
  }
  return null;
}
