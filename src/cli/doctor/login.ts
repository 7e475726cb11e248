// Doctor: who may sign in to the dashboard, and why the other providers are not there (dashboard.md §5.2).
import { collectProviders } from "#auth/providers/collect.ts";
import { createRegistry, type ProviderReport } from "#auth/providers/registry.ts";
import { readProviderSettings } from "#auth/providers/settings.ts";
import { systemClock } from "#base/clock.ts";
import { systemRandom } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { error, off, ok, warning, type DoctorItem, type DoctorSection } from "./report.ts";

/** Asks nobody: settings are judged as the dashboard judges them at its start. */
export function loginSection(loaded: LoadedConfig): DoctorSection {
  const deps = { clock: systemClock, random: systemRandom, log: silentLog };
  const offers = collectProviders(readProviderSettings(loaded), deps);
  const reports = createRegistry(offers, silentLog).reports();
  return {
    id: "login",
    title: "Sign-in",
    items: [...reports.flatMap(itemsOf), ...proxies(loaded)],
  };
}

function itemsOf({ name, status, reason, warnings }: ProviderReport): readonly DoctorItem[] {
  switch (status) {
    case "ready":
      return [
        ok("LOGIN_PROVIDER", `${name}: ready`),
        ...warnings.map((text) => warning("LOGIN_PROVIDER_WARNS", `${name}: ${text}`, null)),
      ];
    case "skipped":
      return [off("LOGIN_PROVIDER_SKIPPED", `${name}: ${reason}`)];
    case "invalid":
      return [error("LOGIN_PROVIDER_INVALID", `${name}: ${reason}`, "Correct that setting.")];
    default:
      return status satisfies never;
  }
}

function proxies({ config }: LoadedConfig): readonly DoctorItem[] {
  const trusted = config.dashboard.trusted_proxies;
  const shown = trusted === null ? "loopback while the gate is on" : trusted.join(", ") || "none";
  return [ok("TRUSTED_PROXIES", `forwarded headers are believed from: ${shown}`)];
}
