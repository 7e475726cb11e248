// The text of a start that would need the login gate and has none (dashboard.md §1.4). No secret values, at most 20 lines.
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import type { ProviderRegistry } from "./providers/registry.ts";
import { FOR_PROGRAMS } from "./providers/token-provider.ts";
import type { GateReason } from "./require-auth.ts";

export interface RefusalFacts {
  readonly host: string;
  readonly port: number;
  readonly why: GateReason;
  readonly publicUrl: URL | null;
  /** One per bundled provider: its name and why it is not usable. */
  readonly providers: readonly { readonly name: string; readonly reason: string }[];
}

export function refusalText(facts: RefusalFacts): string {
  const lines = [
    `Refusing to bind dashboard to ${facts.host}:${facts.port}: the login gate would be on, but there are no auth providers.`,
    ...facts.providers.map(({ name, reason }) => `  - ${name}: ${reason}`),
  ];
  if (facts.why === "public-url" && facts.publicUrl) {
    lines.push(
      `The gate is on because of dashboard.public_url = ${facts.publicUrl.href}`,
      "  For LOCAL-ONLY use: remove dashboard.public_url (or unset HERMES_DASHBOARD_PUBLIC_URL).",
    );
  }
  lines.push("Ways out:", ...WAYS_OUT.map((way) => `  ${way}`));
  return lines.join("\n");
}

const WAYS_OUT: readonly string[] = [
  "a user name and password: HERMES_DASHBOARD_BASIC_AUTH_USERNAME and _PASSWORD, or hermes dashboard set-password",
  "an OAuth or OIDC provider: HERMES_DASHBOARD_OAUTH_CLIENT_ID, or HERMES_DASHBOARD_OIDC_ISSUER + _CLIENT_ID",
  "HERMES_DASHBOARD_HOST=127.0.0.1 and an SSH tunnel or a VPN to reach it",
  "HERMES_DASHBOARD_INSECURE=1 (or --insecure): no login; open to everyone who can reach the port",
];

/** Of every provider that is not ready, in order. A token-only one that is lets nobody sign in. */
export function providerBullets(providers: ProviderRegistry): RefusalFacts["providers"] {
  return providers.reports().map(({ name, reason }) => ({
    name,
    reason: reason ?? `ready, but ${FOR_PROGRAMS}`,
  }));
}

export function gateRequired(facts: RefusalFacts): HermesError {
  return new HermesError("GATE_REQUIRED", refusalText(facts), {
    exit: EXIT.refused,
    setting: facts.why === "host" ? "dashboard host" : "dashboard.public_url",
    data: { ways_out: WAYS_OUT },
  });
}
