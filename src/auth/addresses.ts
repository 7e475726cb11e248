// Addresses as addresses, never as text prefixes (product.md D11).
import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Takes the brackets off an IPv6 literal; other text is returned as it is. */
export function withoutBrackets(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** 4, 6 or 0. A zone (`::1%lo`) is no address for us: it is not comparable. */
export function addressFamily(text: string): 0 | 4 | 6 {
  if (text.includes("%")) return 0;
  return isIP(text) as 0 | 4 | 6;
}

export function isInList(list: BlockList, address: string): boolean {
  const family = addressFamily(address);
  return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104 as literals; brackets only around IPv6. */
export function isLoopbackAddress(host: string): boolean {
  const address = withoutBrackets(host);
  if (address !== host && addressFamily(address) !== 6) return false;
  return isInList(LOOPBACK, address);
}

/** A loopback address or the name `localhost` in any case. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === "localhost" || isLoopbackAddress(host);
}

export function isWildcardHost(host: string): boolean {
  const address = withoutBrackets(host);
  return address === "0.0.0.0" || (addressFamily(address) === 6 && /^[0:]+$/.test(address));
}

/** One spelling per host: lower case, IPv6 without brackets and compressed, one trailing dot cut. */
export function canonicalHost(host: string): string {
  const address = withoutBrackets(host);
  if (addressFamily(address) === 6)
    return withoutBrackets(new URL(`http://[${address}]/`).hostname);
  const lower = address.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

/** A host as it stands in a URL. */
export function hostInUrl(host: string): string {
  const address = withoutBrackets(host);
  return addressFamily(address) === 6 ? `[${address}]` : address;
}

/** `::ffff:10.0.0.1` of a dual-stack socket is 10.0.0.1. */
export function plainPeer(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/**
 * Key of a client in limiters: IPv4 whole, IPv6 its /64 (one customer gets a whole /64), "" without an address: one
 * bucket for all of those.
 */
export function limiterKey(address: string): string {
  const plain = plainPeer(address);
  if (addressFamily(plain) !== 6) return plain;
  const [head = "", tail = ""] = canonicalHost(plain).split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === "" ? 0 : tail.split(":").length;
  while (groups.length + rest < 8) groups.push("0");
  return `${[...groups, ...tail.split(":")].slice(0, 4).join(":")}::/64`;
}
