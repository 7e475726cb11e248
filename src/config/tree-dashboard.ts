// Settings of the dashboard (dashboard.md §1.1, §2, §5). Nearly all decide who gets in, so nearly all are guarded.
import { inCategory, section } from "./leaf.ts";
import {
  isBasePath,
  isHostName,
  isLongSecret,
  isOrigin,
  isPublicUrl,
  isTrustedProxy,
} from "./value-rules.ts";

const dashboard = inCategory("dashboard");
const gate = { guard: true, restart: true } as const;
const gateSecret = { ...gate, secret: true } as const;
const AGE = [60, 315_360_000] as const;

const secret = {
  ...gateSecret,
  expects: "at least 16 bytes",
  accepts: isLongSecret,
} as const;
const origins = {
  ...gate,
  expects: "exact origins such as https://app.example.org",
  accepts: isOrigin,
} as const;

const selfHosted = section({
  issuer: dashboard.text("", "Address of the OpenID Connect issuer", gate),
  client_id: dashboard.text("", "Client id at that issuer", gate),
  client_secret: dashboard.text("", "Client secret; empty for a public client", gateSecret),
  scopes: dashboard.text("openid profile email", "Scopes that are asked for", gate),
  id_token_leeway: dashboard.int(60, [0, 300], "Clock difference that is forgiven, in seconds", {
    restart: true,
  }),
  allowed_users: dashboard.list([], "Subjects or verified addresses that may sign in", gate),
  allowed_domains: dashboard.list([], "Domains of verified addresses that may sign in", gate),
  allowed_groups: dashboard.list([], "Groups that may sign in", gate),
  idp_logout: dashboard.flag(false, "Signing out ends the issuer's session too", gate),
});

export const dashboardSection = section({
  public_url: dashboard.checkedText("", "Address under which browsers reach the dashboard", {
    ...gate,
    expects: "http(s)://host[:port][/path] without user name, query or fragment",
    accepts: isPublicUrl,
  }),
  base_path: dashboard.checkedText("", "Path under which a proxy publishes the dashboard", {
    ...gate,
    expects: "a path such as /hermes",
    accepts: isBasePath,
  }),
  allowed_hosts: dashboard.checkedList("Further host names under which it answers", {
    ...gate,
    expects: "host names without a port; * is not one",
    accepts: isHostName,
  }),
  trusted_proxies: dashboard.maybeList(
    "Addresses whose forwarded headers are believed; unset = loopback when the gate is on",
    {
      ...gate,
      expects: "addresses, networks such as 10.0.0.0/8, loopback or private",
      accepts: isTrustedProxy,
    },
  ),
  cors_origins: dashboard.checkedList("Other origins whose pages may call it", origins),
  session: section({
    secret: dashboard.checkedText("", "Key of the login sessions; empty = made once", secret),
    ttl_seconds: dashboard.maybeInt(AGE, "Longest life of a login, in seconds", gate),
    idle_seconds: dashboard.maybeInt(AGE, "Life of an unused login, in seconds", gate),
  }),
  oauth: section({
    client_id: dashboard.text("", "Client id at the portal, agent:…", gate),
    portal_url: dashboard.text("https://portal.nousresearch.com", "Address of the portal", gate),
    self_hosted: selfHosted,
  }),
  basic_auth: section({
    username: dashboard.text("", "User name of the login", gate),
    password_hash: dashboard.text("", "Hash that `hermes dashboard set-password` made", gateSecret),
    password: dashboard.text("", "Password in the clear; prefer the hash", gateSecret),
    secret: dashboard.checkedText("", "Alias of session.secret", secret),
    session_ttl_seconds: dashboard.maybeInt(AGE, "Longest life of a login, in seconds", gate),
  }),
  pty: dashboard.flag(true, "Offer the terminal tab", { restart: true }),
  auto_sso: dashboard.flag(true, "Go straight to the only login provider", gate),
  hsts: dashboard.flag(false, "Tell browsers to use https only", { restart: true }),
  metrics: dashboard.flag(false, "Serve /metrics", gate),
  theme: dashboard.text("default", "Look of the browser app"),
  hidden_plugins: dashboard.list([], "Plugins that are not shown"),
  csp: section({
    img_origins: dashboard.checkedList("Origins from which images may be loaded", origins),
    font_origins: dashboard.checkedList("Origins from which fonts may be loaded", origins),
    style_origins: dashboard.checkedList("Origins from which styles may be loaded", origins),
  }),
});

export const pluginsSection = section({
  enabled: dashboard.list([], "Plugins that are on", { restart: true }),
  disabled: dashboard.list([], "Plugins that stay off, whatever enables them", { restart: true }),
});
