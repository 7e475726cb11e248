// What the headers of a proxy say, where it is believed (dashboard.md §2.3). `X-Forwarded-Uri`, `-Path`, `X-Original-*`,
// `Forwarded` and names with "_" are read nowhere.
import type { IncomingHttpHeaders } from "node:http";
import { addressFamily, plainPeer } from "./addresses.ts";
import { parsePrefix } from "./prefix.ts";
import type { GateSettings } from "./settings.ts";
import { createProxyTrust, isNearAddress } from "./trusted-proxies.ts";

export interface ForwardedFacts {
  /** Key of limiters, shown in the audit. */
  readonly client: string;
  /** `X-Forwarded-Proto: https` from a believed peer. */
  readonly https: boolean;
  /** Text of a believed `X-Forwarded-Host`; null without: the Host header counts. */
  readonly host: string | null;
  /** Prefix of a believed header; null without or when it is malformed. */
  readonly prefix: string | null;
  /** A header that was not believed, or whose value was malformed: for one warning. */
  readonly remark: { readonly kind: "untrusted" | "bad-prefix"; readonly value: string } | null;
}

const NAMES = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-prefix"];

export type ForwardedReader = (peer: string, headers: IncomingHttpHeaders) => ForwardedFacts;

export function createForwardedReader(
  settings: Pick<GateSettings, "trustedProxies">,
  gateOn: boolean,
): ForwardedReader {
  const trusted = createProxyTrust(settings.trustedProxies, gateOn);
  const protoFromNear = gateOn && settings.trustedProxies === null;
  return (rawPeer, headers) => {
    const peer = plainPeer(rawPeer);
    if (!NAMES.some((name) => headers[name] !== undefined)) return direct(peer, false, null);
    const proto = lastOf(headers["x-forwarded-proto"])?.toLowerCase() === "https";
    if (!trusted(peer)) {
      const https = proto && protoFromNear && isNearAddress(peer);
      return direct(peer, https, https ? null : { kind: "untrusted", value: peer });
    }
    const prefixText = lastOf(headers["x-forwarded-prefix"]);
    const prefix = prefixText === null ? null : parsePrefix(prefixText);
    const bad = prefixText !== null && prefix === null;
    return {
      client: clientOf(peer, headers["x-forwarded-for"], trusted),
      https: proto,
      host: lastOf(headers["x-forwarded-host"]),
      prefix,
      remark: bad ? { kind: "bad-prefix", value: prefixText } : null,
    };
  };
}

function direct(peer: string, https: boolean, remark: ForwardedFacts["remark"]): ForwardedFacts {
  return { client: peer, https, host: null, prefix: null, remark };
}

/** From the right, past the proxies that are ours: the first other one is who asked; what stands left of it is a claim. */
function clientOf(
  peer: string,
  header: string | string[] | undefined,
  trusted: (address: string) => boolean,
): string {
  const hops = [header ?? []].flat().join(",").split(",");
  for (const hop of hops.reverse()) {
    const address = plainPeer(withoutPort(hop.trim()));
    if (addressFamily(address) === 0) return peer;
    if (!trusted(address)) return address;
  }
  return peer;
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}

/** Repeated or comma-joined: the nearest proxy wrote the last element. */
function lastOf(header: string | string[] | undefined): string | null {
  const last = [header ?? []].flat().join(",").split(",").at(-1)?.trim() ?? "";
  return last === "" ? null : last;
}
