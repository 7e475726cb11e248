// `metrics`: whoever holds the token may read /metrics (dashboard.md §5.6).
import type { Offer } from "./registry.ts";
import type { Secret } from "./secret.ts";
import { createTokenProvider, FOR_PROGRAMS } from "./token-provider.ts";

export function offerMetrics(token: Secret | null): Offer {
  const name = "metrics";
  if (token === null) {
    return { status: "skipped", name, reason: `HERMES_METRICS_TOKEN is not set (${FOR_PROGRAMS})` };
  }
  const provider = createTokenProvider({
    name,
    displayName: "Metrics",
    scope: "metrics:read",
    secret: token,
  });
  return { status: "ready", name, provider, warnings: [] };
}
