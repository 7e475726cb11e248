// What single values must look like. Sources: dashboard.md §1.1, §2.1, §2.3, §2.4.
import { isIP } from "node:net";

export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const LABEL = /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$/;

/** A host without a port: name, IPv4, or IPv6 with or without brackets. */
export function isHost(text: string): boolean {
  if (text.startsWith("[") && text.endsWith("]")) return isIP(text.slice(1, -1)) === 6;
  return isIP(text) !== 0 || isHostName(text);
}

/** A host name or an address; no wildcard, no port, no scheme. */
export function isHostName(text: string): boolean {
  if (isIP(text) !== 0) return true;
  if (text.length > 253) return false;
  return text
    .replace(/\.$/, "")
    .split(".")
    .every((label) => LABEL.test(label));
}

/** `/a/b`: dashboard.md §2.4. A missing first slash and one trailing slash are forgiven. */
export function isBasePath(text: string): boolean {
  const path = text.replace(/\/$/, "").replace(/^(?!\/)/, "/");
  if (path === "/") return true;
  if (path.length > 256 || !/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) return false;
  return !path.split("/").some((part) => part === "." || part === "..");
}

export function isPublicUrl(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u0020\u007f"'`<>\\?#]/.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[^/]/i.test(text)) return false;
  const path = text.replace(/^https?:\/\/[^/]*/i, "").replace(/\/$/, "");
  return url.username === "" && url.password === "" && (path === "" || isBasePath(path));
}

/** Scheme and authority, exactly as a browser sends it in `Origin`. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
}

/** An address, a network, or one of the words; never "everyone". */
export function isTrustedProxy(text: string): boolean {
  if (text === "loopback" || text === "private") return true;
  const [address = "", bits, more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more !== undefined || address.includes("%")) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
}

export function isLongSecret(text: string): boolean {
  return Buffer.byteLength(text, "utf8") >= 16;
}
