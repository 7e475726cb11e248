// The part of the dashboard's settings that decides who may ask what: checked values only.

import type { LifetimeSettings } from "./sessions/lifetimes.ts";

export interface GateSettings {
  /** As given: an address or a name. */
  readonly host: string;
  readonly insecure: boolean;
  readonly publicUrl: URL | null;
  /** "" or `/x/y` (dashboard.md §2.4). */
  readonly basePath: string;
  /** Lower case, exact. */
  readonly allowedHosts: readonly string[];
  /** null: the default list of the mode. */
  readonly trustedProxies: readonly string[] | null;
  /** Exact origins. */
  readonly corsOrigins: readonly string[];
  readonly hsts: boolean;
  /** Go straight to the only login provider. */
  readonly autoSso: boolean;
  /** Text of the session secret; null: the home's own key file. Never shown. */
  readonly sessionSecret: string | null;
  readonly lifetimes: LifetimeSettings;
  readonly csp: {
    readonly img: readonly string[];
    readonly font: readonly string[];
    readonly style: readonly string[];
  };
}
