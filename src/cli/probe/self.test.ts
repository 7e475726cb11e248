import assert from "node:assert/strict";
import { test } from "node:test";
import type { Role } from "#container/boot-record.ts";
import type { ServiceBody, ServiceState } from "#protocol/http-status.ts";
import { essentialNames } from "./self.ts";

function service(
  name: string,
  state: ServiceState,
  desired: ServiceBody["desired"] = null,
): ServiceBody {
  const isGateway = name.startsWith("gateway-");
  return {
    name,
    kind: isGateway ? "gateway" : "dashboard",
    profile: isGateway ? name.slice("gateway-".length) : null,
    state,
    reason: null,
    desired,
    pid: null,
    since: null,
    restarts: 0,
    restarts_60s: 0,
    last_exit: null,
    next_start_at: null,
    error: null,
    log: null,
  };
}

const RUNNING = service("gateway-default", "ready", "running");
const CRASHING = service("gateway-default", "crash-looping", "running");
const STOPPED = service("gateway-default", "stopped", "stopped");
const GONE = service("gateway-default", "stopped", "running");
const WORK = service("gateway-work", "ready", "running");
const ON = service("dashboard", "ready");
const REFUSED = service("dashboard", "refused");
const OFF = service("dashboard", "disabled");

interface Row {
  readonly case: string;
  readonly role: Role;
  readonly profile?: string;
  readonly services: readonly ServiceBody[];
  readonly health?: string;
  readonly essential: readonly string[];
}

/** dashboard.md §13, the table of roles. */
const ROWS: readonly Row[] = [
  {
    case: "its own gateway",
    role: "gateway",
    services: [RUNNING, ON],
    essential: ["gateway-default"],
  },
  {
    case: "a crashing one counts",
    role: "gateway",
    services: [CRASHING, ON],
    essential: ["gateway-default"],
  },
  {
    case: "one that ended by itself counts",
    role: "gateway",
    services: [GONE, ON],
    essential: ["gateway-default"],
  },
  {
    case: "the profile of the command",
    role: "gateway",
    profile: "work",
    services: [RUNNING, WORK],
    essential: ["gateway-work"],
  },
  { case: "stopped by its operator", role: "gateway", services: [STOPPED, REFUSED], essential: [] },
  {
    case: "in the foreground",
    role: "gateway-foreground",
    services: [RUNNING],
    essential: ["gateway-default"],
  },
  {
    case: "wanted gateway first",
    role: "serve",
    services: [CRASHING, ON],
    essential: ["gateway-default"],
  },
  { case: "else the dashboard", role: "serve", services: [STOPPED, ON], essential: ["dashboard"] },
  {
    case: "a refused dashboard that is all there is",
    role: "supervise",
    services: [STOPPED, REFUSED],
    essential: ["dashboard"],
  },
  { case: "nothing is on", role: "serve", services: [STOPPED, OFF], essential: [] },
  {
    case: "the dashboard is the command",
    role: "dashboard",
    services: [RUNNING, ON],
    essential: ["dashboard"],
  },
  { case: "a one-off command", role: "command", services: [CRASHING, REFUSED], essential: [] },
  { case: "no services at all", role: "instant", services: [], essential: [] },
  {
    case: "named profiles too, each once",
    role: "gateway",
    services: [RUNNING, WORK],
    health: " work, default,,none",
    essential: ["gateway-default", "gateway-work", "gateway-none"],
  },
];

for (const row of ROWS) {
  test(`essential for ${row.role}: ${row.case}`, () => {
    const env = row.health === undefined ? {} : { HERMES_HEALTH_PROFILES: row.health };
    const names = essentialNames(row.role, row.profile ?? "default", row.services, env);
    assert.deepEqual(names, row.essential);
  });
}
