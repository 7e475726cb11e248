// The tools of one session: which are offered, how one call runs, what becomes of its result.
import { nearestWords } from "#base/text.ts";
import type { Tool, ToolBox } from "#agent/ports/tool.ts";
import { createAllTools } from "./all.ts";
import type { ToolBoxDeps, ToolSettings } from "./deps.ts";
import { createExecutor } from "./execute.ts";
import { chooseTools } from "./toolsets.ts";

export type { ToolBoxDeps, ToolSettings } from "./deps.ts";

/**
 * Builds the tool list of a session once; it stays the same for the session (I1). Unknown set names are logged.
 * The caller closes the box: background processes of the session end with it (field-rules K02).
 */
export function createToolBox(given: ToolBoxDeps): ToolBox {
  const remembered: string[] = [];
  const deps = { ...given, settings: withAllowed(given.settings, remembered) };
  const all = createAllTools(deps);
  const { tools, unknown } = chooseTools(
    all.tools.filter((tool) => tool.unavailable() === null),
    {
      toolsets: deps.toolsets,
      disabled: deps.settings.agent.disabled_toolsets,
      custom: deps.settings.custom_toolsets,
    },
  );
  for (const name of unknown) deps.log.warn(`unknown or empty toolset ${JSON.stringify(name)}`);
  const byName = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]));
  return {
    tools,
    find: (name) => byName.get(name) ?? null,
    nearest: (name) => nearestWords(name, byName.keys()),
    execute: createExecutor(deps),
    allowAlways: (assessment) => {
      // The configuration was read before: what is allowed now holds for the rest of the session at once.
      remembered.push(assessment.allowKey);
      return given.rememberAllowed(assessment.allowKey);
    },
    close: () => all.close(),
  };
}

function withAllowed(settings: ToolSettings, remembered: readonly string[]): ToolSettings {
  return {
    terminal: settings.terminal,
    web: settings.web,
    security: settings.security,
    memory: settings.memory,
    approvals: settings.approvals,
    agent: settings.agent,
    custom_toolsets: settings.custom_toolsets,
    get command_allowlist() {
      return [...settings.command_allowlist, ...remembered];
    },
  };
}
