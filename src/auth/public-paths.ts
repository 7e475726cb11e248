// The only two lists of paths that answer without a credential (product.md D10, dashboard.md §3.2). Both gates get their
// answer from the matched route, whose class comes from here. A new entry must be harmless to anyone with curl: no user
// data, no path, no address, no secret, constant time, no I/O.

/** GET and HEAD only, exact match on the dispatched path. */
export const PUBLIC_API_PATHS = Object.freeze({
  "/api/status":
    "the portal's only liveness question, asked without a cookie; also carries the mode (auth_required)",
  "/api/health": 'cheapest "is it alive" for Docker, Kubernetes, load balancers',
  "/api/config/defaults": "the settings form is built from it; a constant of the program",
  "/api/config/schema": "the settings form is built from it; a constant of the program",
  "/api/model/info": "name and context window of the configured model; no key, no address",
  "/api/dashboard/themes": "manifests that the page needs to draw itself",
  "/api/dashboard/plugins": "manifests that the page needs to draw itself",
});

export type PublicApiPath = keyof typeof PUBLIC_API_PATHS;

/** An entry that ends in `/*` matches whole segments. */
export const BOOTSTRAP_PATHS = Object.freeze({
  "/login": "the sign-in page itself",
  "/auth/login": "starts a sign-in",
  "/auth/callback": "ends a sign-in at a provider",
  "/auth/logout": "must work with a dead session",
  "/auth/password-login": "a password is the credential",
  "/auth/native/authorize": "starts a sign-in of a native app",
  "/auth/native/token": "a one-time code and its verifier are the credential",
  "/auth/native/refresh": "a refresh token is the credential",
  "/api/auth/providers": "the sign-in page lists them",
  "/assets/*": "scripts and styles of the sign-in page and the app; same for everyone",
  "/fonts/*": "as assets",
  "/icons/*": "as assets",
  "/favicon.ico": "browsers ask for it without being told to",
  "/manifest.webmanifest": "browsers fetch it without cookies",
  "/sw.js": "a worker that unregisters itself must be reachable to do so",
  "/healthz": "monitors",
  "/readyz": "monitors; no names of profiles",
});

export type BootstrapPath = keyof typeof BOOTSTRAP_PATHS;

export function isPublicApiPath(path: string): path is PublicApiPath {
  return Object.hasOwn(PUBLIC_API_PATHS, path);
}

export function isBootstrapPath(path: string): path is BootstrapPath {
  return Object.hasOwn(BOOTSTRAP_PATHS, path);
}
