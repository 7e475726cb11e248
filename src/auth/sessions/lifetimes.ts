// How long a login lives (dashboard.md §6.4).

export interface LifetimeSettings {
  /** `dashboard.session.ttl_seconds`; null: the default of the kind of login. */
  readonly ttlSeconds: number | null;
  readonly idleSeconds: number | null;
  /** `dashboard.basic_auth.session_ttl_seconds`: comes before the general one, for password logins. */
  readonly basicTtlSeconds: number | null;
}

export interface Lifetime {
  readonly absoluteSeconds: number;
  readonly idleSeconds: number;
}

const DAY = 86_400;
const LONG: Lifetime = { absoluteSeconds: 30 * DAY, idleSeconds: 7 * DAY };
/** Nobody checks such a session again, so it must not outlive a day. */
const UNCHECKED_SECONDS = DAY / 2;

/** `refreshable`: the provider is asked again whenever its access token ends. */
export function lifetimeOf(
  kind: "redirect" | "password",
  refreshable: boolean,
  settings: LifetimeSettings,
): Lifetime {
  const ttl =
    kind === "password" ? (settings.basicTtlSeconds ?? settings.ttlSeconds) : settings.ttlSeconds;
  if (kind === "redirect" && !refreshable) {
    const absoluteSeconds = Math.min(UNCHECKED_SECONDS, ttl ?? UNCHECKED_SECONDS);
    const idleSeconds = Math.min(UNCHECKED_SECONDS, settings.idleSeconds ?? UNCHECKED_SECONDS);
    return { absoluteSeconds, idleSeconds };
  }
  return {
    absoluteSeconds: ttl ?? LONG.absoluteSeconds,
    idleSeconds: settings.idleSeconds ?? LONG.idleSeconds,
  };
}
