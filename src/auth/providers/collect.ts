// The bundled providers, judged by their settings (dashboard.md §5.2). No network, nothing heavy.
import type { Clock } from "#base/clock.ts";
import type { RandomBytes } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { offerBasic } from "./basic.ts";
import { offerDrain } from "./drain.ts";
import { offerMetrics } from "./metrics.ts";
import { offerNous } from "./nous.ts";
import { createOidcHttp, type OidcHttp } from "./oidc-http.ts";
import type { Offer } from "./registry.ts";
import { offerSelfHosted } from "./self-hosted.ts";
import type { ProviderSettings } from "./settings.ts";

export interface ProviderDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

export interface OidcDeps extends ProviderDeps {
  readonly http: OidcHttp;
}

/** In the order in which the login page shows them. Plugins' offers are appended by the caller. */
export function collectProviders(settings: ProviderSettings, deps: ProviderDeps): readonly Offer[] {
  const http = createOidcHttp({ proxy: settings.proxy, clock: deps.clock });
  const offers = [
    offerNous(settings.nous, { ...deps, http }),
    offerSelfHosted(settings.selfHosted, { ...deps, http }),
    offerBasic(settings.basic),
    offerDrain(settings.drainSecret),
    offerMetrics(settings.metricsToken),
  ];
  return offers.map((offer) =>
    settings.disabled.includes(offer.name) ? switchedOff(offer) : offer,
  );
}

/** One that nobody set up keeps its own reason: that it is off too would say nothing. */
function switchedOff(offer: Offer): Offer {
  if (offer.status === "skipped") return offer;
  return {
    status: "skipped",
    name: offer.name,
    reason: `has credentials, but is switched off by "${offer.name}" in plugins.disabled`,
  };
}
