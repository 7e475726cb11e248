// The table of arrows (docs/architecture.md): which room may import which, and why. The test beside it holds it.

export interface Room {
  /** Rooms and packages it may import; `#agent` with `ports` means agent/ports only. */
  readonly may: readonly string[];
  readonly because: string;
  /** False until the issue that builds it lands: then the folder must not exist yet. */
  readonly built: boolean;
}

export const ROOMS: Readonly<Record<string, Room>> = {
  base: { may: [], because: "no domain, no reason to know anyone", built: true },
  protocol: { may: ["zod/mini"], because: "the browser imports its types", built: true },
  config: {
    may: ["base", "protocol", "zod/mini", "yaml"],
    because: "everyone is handed a Config",
    built: true,
  },
  profile: {
    may: ["base", "config", "yaml", "tar"],
    because: "a folder and a name, nothing that runs",
    built: true,
  },
  agent: {
    may: ["base", "protocol"],
    because: "pure: testable with fakes; the ports are declared here",
    built: true,
  },
  model: {
    may: ["agent/ports", "protocol", "base"],
    because: "adapters point at the port, never back",
    built: true,
  },
  store: {
    may: ["agent/ports", "protocol", "base"],
    because: "adapters point at the port, never back",
    built: true,
  },
  tools: {
    may: ["agent/ports", "protocol", "base"],
    because: "adapters point at the port, never back",
    built: true,
  },
  session: {
    may: ["agent", "model", "store", "tools", "profile", "config", "protocol", "base"],
    because: "the one application service",
    built: true,
  },
  supervisor: {
    may: ["profile", "config", "protocol", "base"],
    because: "knows services, not conversations",
    built: true,
  },
  auth: {
    may: ["config", "protocol", "base"],
    because: "must not see sessions or tools: small enough to audit in one sitting",
    built: true,
  },
  gateway: {
    may: ["session", "profile", "supervisor", "config", "protocol", "base"],
    because: "chat platforms to conversations",
    built: true,
  },
  dashboard: {
    may: ["auth", "session", "supervisor", "profile", "config", "protocol", "base"],
    because: "cron and pairing are ports handed in by cli",
    built: true,
  },
  container: {
    may: ["supervisor", "profile", "config", "base"],
    because: "what happens at boot, as typed steps",
    built: true,
  },
  tui: { may: ["protocol", "base"], because: "is handed a session by cli", built: true },
  cli: { may: ["*"], because: "composition root", built: true },
};

/** Modules that only some rooms may import. `process.env` is held by the same test. */
export const CONFINED: readonly {
  readonly module: string;
  readonly rooms: readonly string[];
  readonly because: string;
}[] = [
  { module: "node:sqlite", rooms: ["store"], because: "one store, one write discipline" },
  {
    module: "node:child_process",
    rooms: ["tools", "supervisor", "container", "cli"],
    because: "whoever starts a process must also end it",
  },
  {
    module: "@lydell/node-pty",
    rooms: ["cli"],
    because: "it starts processes too; only in the process that holds terminals (src/cli/terminal)",
  },
];

/** I9: the loop touches nothing of the world. */
export const AGENT_FORBIDDEN: readonly RegExp[] = [
  /^node:(?!crypto$)/u,
  /^undici$/u,
  /^ai$/u,
  /^@ai-sdk\//u,
];
