// Every platform that a gateway can serve, in the order in which they are shown. To add one: its adapter, and an entry here.
import type { PlatformSpec } from "./platform.ts";

/** Each adapter is its own chunk, loaded only where it is enabled (agent.md §12.2, row 58). */
export const PLATFORMS: readonly PlatformSpec[] = [
  {
    name: "api_server",
    isEnabled: ({ config, env }) =>
      isOn(config.platforms.api_server.enabled, env.get("API_SERVER_KEY")),
    open: async () => (await import("./adapters/api-server/adapter.ts")).openApiServer(),
  },
  {
    name: "webhook",
    isEnabled: ({ config, env }) =>
      isOn(config.platforms.webhook.enabled, env.get("WEBHOOK_SECRET")),
    open: async () => (await import("./adapters/webhook/adapter.ts")).openWebhook(),
  },
];

/** `auto` is on when the platform's secret is set; an explicit false wins (field-rules A09). */
function isOn(setting: boolean | "auto", secret: string | undefined): boolean {
  return setting === "auto" ? secret !== undefined : setting;
}
