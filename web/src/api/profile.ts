// The profile that this page shows: `?profile=` of its address, read once (dashboard.md §12.2). Without one the active profile.

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** null: none is named, or what is named cannot be a profile. */
export function readProfile(search: string): string | null {
  const name = new URLSearchParams(search).get("profile");
  return name !== null && NAME.test(name) ? name : null;
}

/** Questions about who is signed in belong to no profile. */
export function isOfProfile(path: string): boolean {
  return path.startsWith("/api/") && !path.startsWith("/api/auth/");
}
