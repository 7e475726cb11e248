// Whose forwarded headers are believed (dashboard.md §2.3).
import { BlockList } from "node:net";
import { addressFamily, isInList } from "./addresses.ts";

const WORDS: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  loopback: [
    ["127.0.0.0", 8],
    ["::1", 128],
  ],
  private: [
    ["10.0.0.0", 8],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
    ["100.64.0.0", 10],
    ["169.254.0.0", 16],
    ["fe80::", 10],
    ["fc00::", 7],
  ],
};

/** The networks that one entry names; null when it is none, or one that would mean "everybody". */
export function parseProxyEntry(entry: string): readonly (readonly [string, number])[] | null {
  const word = WORDS[entry.toLowerCase()];
  if (word) return word;
  const [address = "", bits, more] = entry.split("/");
  const family = addressFamily(address);
  if (family === 0 || more !== undefined) return null;
  const most = family === 4 ? 32 : 128;
  if (bits === undefined) return [[address, most]];
  const count = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return count >= 1 && count <= most ? [[address, count]] : null;
}

export type ProxyTrust = (address: string) => boolean;

/** A list that is set replaces the default entirely; the default is loopback with the gate on, nothing in local mode. */
export function createProxyTrust(entries: readonly string[] | null, gateOn: boolean): ProxyTrust {
  const list = new BlockList();
  for (const entry of entries ?? (gateOn ? ["loopback"] : [])) {
    for (const [network, bits] of parseProxyEntry(entry) ?? []) {
      // It is known to be an address; net.isIPv6 costs its regular expression at each start.
      list.addSubnet(network, bits, network.includes(":") ? "ipv6" : "ipv4");
    }
  }
  return (address) => isInList(list, address);
}

/** RFC 1918, RFC 6598, link-local, RFC 4193 and loopback: peers that stand near us. */
export const isNearAddress: ProxyTrust = createProxyTrust(["loopback", "private"], false);
