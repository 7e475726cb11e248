// "Always" of an approval: one more entry in `command_allowlist` (agent.md §5.3).
import type { Workspace } from "./compose.ts";
import { configTarget } from "./config-target.ts";

export async function allowCommand(
  workspace: Pick<Workspace, "launch" | "config">,
  key: string,
): Promise<void> {
  const { applyConfigChanges } = await import("#config/write.ts");
  const { command_allowlist } = workspace.config.reload().config;
  if (command_allowlist.includes(key)) return;
  const value = [...command_allowlist, key];
  await applyConfigChanges(configTarget(workspace.launch), [
    { path: ["command_allowlist"], value },
  ]);
  workspace.config.reload();
}
