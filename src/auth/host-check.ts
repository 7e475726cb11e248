// Which Host headers are answered (dashboard.md §2.1): the defence against DNS rebinding, before any routing.
import {
  addressFamily,
  canonicalHost,
  isLoopbackAddress,
  isLoopbackHost,
  isWildcardHost,
} from "./addresses.ts";
import type { GateSettings } from "./settings.ts";

export interface Authority {
  /** Canonical: lower case, IPv6 without brackets, no trailing dot. */
  readonly host: string;
  readonly port: number | null;
  /** As it came: for origins and messages. */
  readonly text: string;
}

const NAME = /^[A-Za-z0-9._-]+$/;
const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/s;

/** null: malformed. RFC 9112 §3.2 allows exactly one, of the form host[:port]. */
export function parseAuthority(text: string): Authority | null {
  const match = AUTHORITY.exec(text);
  const host = match?.[1];
  if (host === undefined || host === "") return null;
  const port = match?.[2];
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65535)) return null;
  const sound = host.startsWith("[") ? addressFamily(host.slice(1, -1)) === 6 : NAME.test(host);
  const canonical = sound ? canonicalHost(host) : "";
  if (canonical === "" || canonical.endsWith(".")) return null;
  return { host: canonical, port: port === undefined ? null : Number(port), text };
}

/** Node hands over the first of several Host lines and is silent about the others: count the raw ones. */
export function hostHeaderOf(rawHeaders: readonly string[]): Authority | null {
  let found: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== "host") continue;
    if (found !== null) return null;
    found = rawHeaders[i + 1] ?? "";
  }
  return found === null ? null : parseAuthority(found);
}

export type HostCheck = (authority: Authority, peerIsLoopback: boolean) => boolean;

/** The table of §2.1 for one bind address. */
export function createHostCheck(
  settings: Pick<GateSettings, "host" | "publicUrl" | "allowedHosts">,
  gateOn: boolean,
): HostCheck {
  const always = new Set(settings.allowedHosts.map(canonicalHost));
  const listed = always.size > 0;
  if (settings.publicUrl) always.add(canonicalHost(settings.publicUrl.hostname));
  const bound = canonicalHost(settings.host);
  if (isLoopbackHost(settings.host)) {
    return ({ host }) => isLoopbackName(host) || always.has(host);
  }
  if (!isWildcardHost(settings.host)) return ({ host }) => host === bound || always.has(host);
  return ({ host }, peerIsLoopback) => {
    if (always.has(host) || (peerIsLoopback && isLoopbackName(host))) return true;
    if (gateOn) return !listed;
    // Rebinding needs a domain: an address or a bare name cannot be pointed at us by a stranger.
    return addressFamily(host) !== 0 || host === "localhost" || !host.includes(".");
  };
}

function isLoopbackName(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}
