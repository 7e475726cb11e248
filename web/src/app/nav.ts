// The list of pages, in the order of the navigation. Later pages (channels, cron, skills, MCP) join here.
import type { Messages } from "../i18n/en.ts";
import type { IconName } from "../parts/icons.tsx";

export const NAV = [
  { to: "/chat", label: "chat", icon: "chat" },
  { to: "/sessions", label: "sessions", icon: "sessions" },
  { to: "/services", label: "services", icon: "server" },
  { to: "/profiles", label: "profiles", icon: "people" },
  { to: "/models", label: "models", icon: "models" },
  { to: "/env", label: "keys", icon: "keys" },
  { to: "/config", label: "config", icon: "config" },
  { to: "/logs", label: "logs", icon: "logs" },
  { to: "/analytics", label: "analytics", icon: "analytics" },
  { to: "/themes", label: "themes", icon: "sun" },
  { to: "/terminal", label: "terminal", icon: "terminal" },
] as const satisfies readonly {
  readonly to: string;
  readonly label: keyof Messages["nav"];
  readonly icon: IconName;
}[];
