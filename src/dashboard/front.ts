// Everything before routing, for HTTP and upgrades alike: Host, request target, forwarded headers, prefix (dashboard.md §2).
import type { IncomingMessage } from "node:http";
import { canonicalHost, isLoopbackAddress, plainPeer } from "#auth/addresses.ts";
import { ownOrigins } from "#auth/cross-site.ts";
import { createForwardedReader, type ForwardedFacts } from "#auth/forwarded.ts";
import { type Authority, createHostCheck, hostHeaderOf, parseAuthority } from "#auth/host-check.ts";
import { parsePrefix, withoutPrefix } from "#auth/prefix.ts";
import { parseTarget } from "#auth/request-target.ts";
import type { GateSettings } from "#auth/settings.ts";
import { randomHex } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { RequestFacts } from "./facts.ts";

export type FrontAnswer =
  | { readonly ok: true; readonly facts: RequestFacts }
  | {
      readonly ok: false;
      readonly id: string;
      readonly code: "bad_host" | "bad_path";
      readonly detail: string;
    };

export type Front = (incoming: IncomingMessage) => FrontAnswer;

/** Unique and short; nobody trusts it, so a count within a random life is enough: asking the kernel costs 12 µs a request. */
function createRequestIds(): () => string {
  const life = randomHex(8);
  let count = 0;
  return () => life + (++count).toString(16).padStart(8, "0");
}

export function createFront(settings: GateSettings, gateOn: boolean, log: Log): Front {
  const accepts = createHostCheck(settings, gateOn);
  const readForwarded = createForwardedReader(settings, gateOn);
  const once = createOnce(log);
  const publicPrefix = settings.publicUrl ? parsePrefix(settings.publicUrl.pathname) : null;
  const publicHost = settings.publicUrl ? canonicalHost(settings.publicUrl.hostname) : null;
  const nextId = createRequestIds();
  const publicHttps = settings.publicUrl?.protocol === "https:";

  return (incoming) => {
    const id = nextId();
    const peer = plainPeer(incoming.socket.remoteAddress ?? "");
    const peerIsLoopback = isLoopbackAddress(peer);
    const target = parseTarget(incoming.url ?? "");
    const named = hostHeaderOf(incoming.rawHeaders);
    if (!named || !accepts(named, peerIsLoopback) || !sameAuthority(target?.authority, named)) {
      return badHost(id, named?.text ?? incoming.headers.host ?? "", once);
    }
    if (!target) return { ok: false, id, code: "bad_path", detail: "Invalid request target" };
    const forwarded = readForwarded(peer, incoming.headers);
    remark(forwarded, once);
    const effective = forwarded.host === null ? named : parseAuthority(forwarded.host);
    if (!effective || !accepts(effective, peerIsLoopback)) {
      return badHost(id, forwarded.host ?? "", once);
    }
    const https = forwarded.https || (publicHttps && effective.host === publicHost);
    const prefix = publicPrefix ?? forwarded.prefix ?? settings.basePath;
    return {
      ok: true,
      facts: {
        id,
        method: incoming.method ?? "GET",
        path: withoutPrefix(target.path, prefix),
        query: target.query,
        headers: incoming.headers,
        client: forwarded.client,
        peerIsLoopback,
        https,
        host: effective.text,
        prefix,
        ownOrigins: ownOrigins({
          host: effective.text,
          https,
          publicOrigin: settings.publicUrl?.origin ?? null,
          corsOrigins: settings.corsOrigins,
        }),
      },
    };
  };
}

/** An absolute-form target must name the same host as the Host header. */
function sameAuthority(authority: string | null | undefined, named: Authority): boolean {
  if (authority === null || authority === undefined) return true;
  const other = parseAuthority(authority);
  return other !== null && other.host === named.host && other.port === named.port;
}

function badHost(id: string, host: string, once: Once): FrontAnswer {
  const shown = host.replace(/[^ -~]/g, "?").slice(0, 120);
  once(
    `host ${shown}`,
    `request for host "${shown}" refused; if it is yours, add it to dashboard.allowed_hosts`,
  );
  const detail = `Invalid Host header: ${shown || "(none)"}; see dashboard.allowed_hosts`;
  return { ok: false, id, code: "bad_host", detail };
}

function remark({ remark: found }: ForwardedFacts, once: Once): void {
  if (found?.kind === "untrusted") {
    once(
      `peer ${found.value}`,
      `forwarded headers from ${found.value} are ignored; see dashboard.trusted_proxies`,
    );
  }
  if (found?.kind === "bad-prefix") {
    const shown = found.value.replace(/[^ -~]/g, "?").slice(0, 80);
    once(`prefix ${found.value}`, `X-Forwarded-Prefix "${shown}" is malformed and ignored`);
  }
}

type Once = (key: string, message: string) => void;

/** One warning per key; a stranger cannot grow the list beyond 1,000. */
function createOnce(log: Log): Once {
  const seen = new Set<string>();
  return (key, message) => {
    if (seen.has(key) || seen.size >= 1000) return;
    seen.add(key);
    log.warn(message);
  };
}
