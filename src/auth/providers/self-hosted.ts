// `self-hosted`: any OpenID Connect issuer (dashboard.md §5.4). What its settings must be; self-hosted-login.ts does the rest.
import { isLoopbackHost } from "../addresses.ts";
import { isOpen, type AllowList } from "./allow-list.ts";
import type { OidcDeps } from "./collect.ts";
import type { Offer } from "./registry.ts";
import { createSelfHosted, SELF_HOSTED } from "./self-hosted-login.ts";
import type { SelfHostedSettings } from "./settings.ts";

const ISSUER = "HERMES_DASHBOARD_OIDC_ISSUER (dashboard.oauth.self_hosted.issuer)";
const CLIENT_ID = "HERMES_DASHBOARD_OIDC_CLIENT_ID (dashboard.oauth.self_hosted.client_id)";
const SCOPES = "HERMES_DASHBOARD_OIDC_SCOPES (dashboard.oauth.self_hosted.scopes)";
const LISTS = "HERMES_DASHBOARD_OIDC_ALLOWED_USERS, _ALLOWED_DOMAINS or _ALLOWED_GROUPS";

/** Issuers where anyone can make an account: "everyone it signs in" would be everyone. */
const WORLD_ISSUERS: ReadonlySet<string> = new Set([
  "https://accounts.google.com",
  "https://login.microsoftonline.com/common/v2.0",
  "https://login.microsoftonline.com/consumers/v2.0",
  "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
  "https://appleid.apple.com",
  "https://gitlab.com",
  "https://www.facebook.com",
  "https://login.yahoo.com",
  "https://slack.com",
  "https://www.linkedin.com/oauth",
  "https://id.twitch.tv/oauth2",
]);

export function offerSelfHosted(settings: SelfHostedSettings, deps: OidcDeps): Offer {
  const name = SELF_HOSTED;
  const { issuer, clientId } = settings;
  if (issuer === "" && clientId === "") {
    return { status: "skipped", name, reason: `${ISSUER} and ${CLIENT_ID} are not set` };
  }
  const reason = faultOf(settings);
  if (reason !== null) return { status: "invalid", name, reason };
  const provider = createSelfHosted(settings, allowListOf(settings), deps);
  const warnings = isOpen(allowListOf(settings))
    ? [`everyone whom ${issuer} signs in may come in; ${LISTS} would limit that`]
    : [];
  return { status: "ready", name, provider, warnings };
}

function allowListOf(settings: SelfHostedSettings): AllowList {
  return {
    users: settings.allowedUsers,
    domains: settings.allowedDomains,
    groups: settings.allowedGroups,
  };
}

function faultOf(settings: SelfHostedSettings): string | null {
  const { issuer, clientId, scopes } = settings;
  if (issuer === "") return `${CLIENT_ID} is set, but ${ISSUER} is not`;
  if (clientId === "") return `${ISSUER} is set, but ${CLIENT_ID} is not`;
  const fault = issuerFault(issuer);
  if (fault !== null) return fault;
  if (!scopes.split(/\s+/u).includes("openid")) return `${SCOPES} must contain openid`;
  if (!WORLD_ISSUERS.has(issuer.toLowerCase().replace(/\/+$/u, ""))) return null;
  return isOpen(allowListOf(settings))
    ? `${issuer} signs the whole world in: set ${LISTS} to say who may come in`
    : null;
}

function issuerFault(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (url === null || !/^https?:$/u.test(url.protocol)) return `${ISSUER} is not an https URL`;
  if (url.username + url.password !== "") return `${ISSUER} has a user name in it`;
  if (/[?#]/u.test(issuer)) return `${ISSUER} has a query or a fragment`;
  const isSafe = url.protocol === "https:" || isLoopbackHost(url.hostname);
  return isSafe ? null : `${ISSUER} is not https, which only an issuer on loopback need not be`;
}
