// The one tree of settings. Defaults, form, check, documents and the type `Config` are derived from it (agent.md §2.2).
import type * as z from "zod/mini";
import { inCategory, section } from "./leaf.ts";
import { CONFIG_VERSION } from "./seed.ts";
import {
  agentSection,
  approvalsSection,
  compressionSection,
  cronSection,
  databaseSection,
  displaySection,
  guardrailsSection,
  loggingSection,
  mcpLeaf,
  memorySection,
  securityLeaves,
  sessionsSection,
  skillsSection,
  terminalSection,
  toolsetLeaves,
  webSection,
} from "./tree-agent.ts";
import { dashboardSection, pluginsSection } from "./tree-dashboard.ts";
import { gatewayLeaves, platformsSection } from "./tree-gateway.ts";
import {
  auxiliarySection,
  fallbackLeaf,
  modelCatalogSection,
  modelSection,
  providersLeaf,
  timezoneLeaf,
} from "./tree-model.ts";

export const configTree = section({
  _config_version: inCategory("general").int(
    CONFIG_VERSION,
    [0, 1_000_000],
    "Version of this file's layout",
    { hidden: true },
  ),
  model: modelSection,
  providers: providersLeaf,
  fallback_providers: fallbackLeaf,
  timezone: timezoneLeaf,
  model_catalog: modelCatalogSection,
  ...toolsetLeaves,
  agent: agentSection,
  terminal: terminalSection,
  approvals: approvalsSection,
  ...securityLeaves,
  compression: compressionSection,
  auxiliary: auxiliarySection,
  memory: memorySection,
  skills: skillsSection,
  web: webSection,
  tool_loop_guardrails: guardrailsSection,
  mcp_servers: mcpLeaf,
  platforms: platformsSection,
  ...gatewayLeaves,
  display: displaySection,
  sessions: sessionsSection,
  cron: cronSection,
  logging: loggingSection,
  database: databaseSection,
  dashboard: dashboardSection,
  plugins: pluginsSection,
});

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The frozen configuration, keys spelled as in YAML. Unknown keys of the file are in the object, not in the type. */
export type Config = DeepReadonly<z.output<typeof configTree>>;
