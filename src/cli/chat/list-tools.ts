// What a run would offer the model: `--list-tools`, `--list-toolsets`, `/tools`.
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { ToolBox } from "#agent/ports/tool.ts";
import { systemClock } from "#base/clock.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { createToolBox } from "#tools/box.ts";
import { allowCommand } from "../allow-command.ts";
import { openWorkspace, openWorkspaceStore, type Workspace } from "../compose.ts";
import { flagOption, type Context } from "../context.ts";
import { isInContainer } from "../in-container.ts";
import { configFlags, runOverrides } from "../run-flags.ts";

const BUILT_IN_SETS = ["hermes-cli", "safe"];

export async function printTools(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const flags = configFlags(line.options);
  const workspace = await openWorkspace(launch, { flags, component: "cli", file: "agent" });
  const store = await openWorkspaceStore(workspace);
  try {
    const box = openTools(context, workspace, store, "");
    const sets = flagOption(line.options, "listToolsets");
    if (sets) printSets(context, workspace, box);
    else if (io.json)
      io.object({ tools: box.tools.map(({ name, toolset }) => ({ name, toolset })) });
    else for (const text of describeTools(box)) io.line(text);
    await box.close();
  } finally {
    await store.close();
    await workspace.close();
  }
  return EXIT.ok;
}

export async function toolNames(
  context: Context,
  workspace: Workspace,
  store: SessionStore,
): Promise<readonly string[]> {
  const box = openTools(context, workspace, store, "");
  const lines = describeTools(box);
  await box.close();
  return lines;
}

/** The tools of a session of this terminal; the caller closes the box. */
export function openTools(
  context: Pick<Context, "launch" | "line">,
  workspace: Workspace,
  store: SessionStore,
  sessionId: string,
): ToolBox {
  const loaded = workspace.loaded();
  const { config, env, home, root, profile } = loaded;
  return createToolBox({
    home,
    root,
    profile,
    settings: config,
    toolsets: runOverrides(context.line.options).toolsets ?? config.toolsets,
    env: (name) => context.launch.env[name] ?? env.get(name),
    inContainer: isInContainer(context.launch),
    safeRoots: (env.get("HERMES_WRITE_SAFE_ROOT") ?? "").split(":").filter((path) => path !== ""),
    store,
    redactor: workspace.redactor,
    clock: systemClock,
    log: workspace.log,
    unattended: false,
    sessionId,
    rememberAllowed: (key) => allowCommand(workspace, key),
    onProcessEnd: () => undefined,
  });
}

function describeTools(box: ToolBox): readonly string[] {
  const width = Math.max(0, ...box.tools.map((tool) => tool.name.length));
  return box.tools.map((tool) => {
    const [first] = tool.description.split(/(?<=\.)\s|\n/);
    return `${tool.name.padEnd(width)}  ${tool.toolset.padEnd(10)}  ${first ?? ""}`;
  });
}

function printSets({ io }: Context, workspace: Workspace, box: ToolBox): void {
  const { custom_toolsets } = workspace.loaded().config;
  const names = [
    ...BUILT_IN_SETS,
    ...box.tools.map((tool) => tool.toolset),
    ...Object.keys(custom_toolsets),
  ];
  const sets = [...new Set(names)];
  if (io.json) io.object({ toolsets: sets });
  else for (const name of sets) io.line(name);
}
