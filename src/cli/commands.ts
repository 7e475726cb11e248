// Which module runs a command. Each is its own chunk of the bundle, loaded only when it is asked for.
import type { CommandModule } from "./context.ts";

export const COMMAND_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  chat: () => import("./commands/chat.ts"),
  setup: () => import("./commands/setup.ts"),
  model: () => import("./commands/model.ts"),
  config: () => import("./commands/config.ts"),
  status: () => import("./commands/status.ts"),
  doctor: () => import("./commands/doctor.ts"),
  gateway: () => import("./commands/gateway.ts"),
  dashboard: () => import("./commands/dashboard.ts"),
  probe: () => import("./commands/probe.ts"),
  profile: () => import("./commands/profile.ts"),
  sessions: () => import("./commands/sessions.ts"),
  logs: () => import("./commands/logs.ts"),
  memory: () => import("./commands/memory.ts"),
  dump: () => import("./commands/dump.ts"),
  supervise: () => import("./commands/supervise.ts"),
  container: () => import("./commands/container.ts"),
  "slot-run": () => import("./commands/slot-run.ts"),
  update: () => import("./commands/update.ts"),
  version: () => import("./commands/version.ts"),
  help: () => import("./commands/help.ts"),
};
