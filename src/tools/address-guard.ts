// Which addresses a web request may go to (agent.md §5.4): checked as addresses, after the URL parser and after DNS.
import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ToolError } from "#agent/ports/tool.ts";
import { PRIVATE_RANGES, type AddressRange } from "./policy.ts";

export interface AddressGuard {
  /** Throws ToolError BAD_URL or ADDRESS_REFUSED. A name is checked later, in `lookup`. */
  checkUrl(text: string): URL;
  /** For `connect.lookup`: only addresses that may be dialled come out, so what was checked is what is dialled. */
  readonly lookup: LookupFunction;
}

export interface GuardOptions {
  /** Opens private ranges, never metadata. */
  readonly allowPrivate: boolean;
  readonly lookup?: LookupFunction;
}

export function createAddressGuard(options: GuardOptions): AddressGuard {
  const closed = PRIVATE_RANGES.filter(
    (range) => range.closed === "always" || !options.allowPrivate,
  ).map((range) => ({ range, list: listOf(range) }));
  const refusal = (address: string): AddressRange | null => closedRange(address, closed);
  return {
    checkUrl: (text) => checkUrl(text, refusal),
    lookup: guardedLookup(options.lookup ?? systemLookup, refusal),
  };
}

type Refusal = (address: string) => AddressRange | null;

interface ClosedRange {
  readonly range: AddressRange;
  readonly list: BlockList;
}

function listOf(range: AddressRange): BlockList {
  const [network = "", prefix = ""] = range.range.split("/");
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4");
  return list;
}

function closedRange(address: string, closed: readonly ClosedRange[]): AddressRange | null {
  const plain = address.replace(/%.*$/, "");
  const family = isIP(plain);
  if (family === 0) return null;
  const type = family === 6 ? "ipv6" : "ipv4";
  return closed.find(({ list }) => list.check(plain, type))?.range ?? null;
}

function checkUrl(text: string, refusal: Refusal): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ToolError("BAD_URL", `${JSON.stringify(text.slice(0, 200))} is no absolute URL`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ToolError("BAD_URL", `${url.protocol} is not fetched, only http: and https:`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ToolError("BAD_URL", "a URL with user name or password is not fetched");
  }
  const port = url.port === "" ? null : Number(url.port);
  if (port !== null && port !== 80 && port !== 443 && port < 1024) {
    throw new ToolError("BAD_URL", `port ${port} is not fetched, only 80, 443 and from 1024`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const range = refusal(host);
  if (range) throw refused(host, range);
  return url;
}

function refused(host: string, range: AddressRange): ToolError {
  const way =
    range.closed === "private" ? "; security.allow_private_urls opens private addresses" : "";
  return new ToolError(
    "ADDRESS_REFUSED",
    `${host} is not fetched: ${range.reason} (${range.id})${way}`,
    {
      rule: range.id,
    },
  );
}

function guardedLookup(lookup: LookupFunction, refusal: Refusal): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        callback(error, "");
        return;
      }
      const all = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found;
      const open = all.filter((entry) => refusal(entry.address) === null);
      const range = all.map((entry) => refusal(entry.address)).find((entry) => entry !== null);
      if (open.length === 0 && range) callback(refused(hostname, range), "");
      else answer(open, options.all === true, callback);
    });
  };
}

function answer(
  addresses: readonly LookupAddress[],
  all: boolean,
  callback: Parameters<LookupFunction>[2],
): void {
  const [first] = addresses;
  if (!first) callback(new ToolError("NAME_NOT_FOUND", "the name has no address"), "");
  else if (all) callback(null, [...addresses]);
  else callback(null, first.address, first.family);
}
