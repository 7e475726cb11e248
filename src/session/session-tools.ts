// The tools of one session, from the configuration and the surface it came from.
import type { ToolBox } from "#agent/ports/tool.ts";
import { createToolBox } from "#tools/box.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { Config } from "#config/tree.ts";
import type { SessionDeps } from "./deps.ts";
import type { LiveSession } from "./live-session.ts";

export function openSessionTools(
  deps: SessionDeps,
  live: LiveSession,
  row: SessionRow,
  unattended: boolean,
): ToolBox {
  const loaded = deps.loaded();
  const { config, env } = loaded;
  return createToolBox({
    home: loaded.home,
    root: loaded.root,
    profile: loaded.profile,
    settings: config,
    toolsets: deps.overrides.toolsets ?? toolsetsOf(row.source, config),
    // Names in terminal.env_passthrough may come from .env as well as from the process.
    env: (name) => deps.processEnv(name) ?? env.get(name),
    inContainer: deps.inContainer,
    safeRoots: (env.get("HERMES_WRITE_SAFE_ROOT") ?? "").split(":").filter((path) => path !== ""),
    store: deps.store,
    redactor: deps.redactor,
    clock: deps.clock,
    log: deps.log,
    unattended,
    sessionId: row.id,
    rememberAllowed: (key) => deps.rememberAllowed(key),
    onProcessEnd: (processId, exitCode, tail) =>
      live.emit({ type: "process-end", processId, exitCode, tail: deps.redactor.text(tail) }),
  });
}

/** A source whose text strangers write gets no tool that acts on this machine, unless it is configured otherwise. */
const TOOLSETS_OF_SOURCE: Readonly<Record<string, readonly string[]>> = {
  webhook: ["hermes-webhook"],
};

function toolsetsOf(source: string, config: Config): readonly string[] {
  const named = (config.platforms as Readonly<Record<string, { readonly toolset?: string }>>)[
    source.replaceAll("-", "_")
  ]?.toolset;
  if (named) return [named];
  return config.platform_toolsets[source] ?? TOOLSETS_OF_SOURCE[source] ?? config.toolsets;
}
