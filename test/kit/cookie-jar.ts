// A cookie jar with the rules of browsers that decide about a login (RFC 6265bis §5.7): prefixes, Secure, Path, Max-Age.

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite: string;
}

export interface CookieJar {
  /** Takes the answer's `Set-Cookie` lines, as a page of this scheme would. */
  take(lines: readonly string[]): void;
  /** Value of the `Cookie` header for a path; undefined when there is none. */
  header(path: string): string | undefined;
  readonly cookies: readonly Cookie[];
  set(name: string, value: string): void;
  clear(): void;
}

export function createCookieJar(https = false): CookieJar {
  const kept = new Map<string, Cookie>();
  return {
    take(lines) {
      for (const line of lines) {
        const cookie = parse(line);
        if (cookie && isAcceptable(cookie, https)) keep(kept, cookie, line, https);
      }
    },
    header(path) {
      const matching = [...kept.values()].filter(
        (cookie) => (https || !cookie.secure) && isUnder(path, cookie.path),
      );
      if (matching.length === 0) return undefined;
      return matching.map(({ name, value }) => `${name}=${value}`).join("; ");
    },
    get cookies() {
      return [...kept.values()];
    },
    set(name, value) {
      kept.set(`${name} /`, {
        name,
        value,
        path: "/",
        secure: false,
        httpOnly: false,
        sameSite: "Lax",
      });
    },
    clear: () => kept.clear(),
  };
}

function keep(kept: Map<string, Cookie>, cookie: Cookie, line: string, https: boolean): void {
  const key = `${cookie.name} ${cookie.path}`;
  const old = kept.get(key);
  // "Leave Secure Cookies Alone": a page that came over http changes no Secure cookie.
  if (old?.secure && !https) return;
  if (/;\s*max-age=0(?:;|$)/i.test(line)) kept.delete(key);
  else kept.set(key, cookie);
}

function parse(line: string): Cookie | null {
  const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
  const equals = pair.indexOf("=");
  if (equals < 1) return null;
  const attribute = (name: string): string | null => {
    const found = attributes.find((part) => part.toLowerCase().split("=")[0] === name);
    return found === undefined ? null : (found.split("=")[1] ?? "");
  };
  return {
    name: pair.slice(0, equals),
    value: pair.slice(equals + 1),
    path: attribute("path") ?? "/",
    secure: attribute("secure") !== null,
    httpOnly: attribute("httponly") !== null,
    sameSite: attribute("samesite") ?? "Lax",
  };
}

function isAcceptable({ name, path, secure, sameSite }: Cookie, https: boolean): boolean {
  if (secure && !https) return false;
  if (sameSite.toLowerCase() === "none" && !secure) return false;
  if (name.startsWith("__Host-")) return secure && path === "/";
  return !name.startsWith("__Secure-") || secure;
}

function isUnder(path: string, cookiePath: string): boolean {
  return (
    cookiePath === "/" ||
    path === cookiePath ||
    path.startsWith(cookiePath.endsWith("/") ? cookiePath : `${cookiePath}/`)
  );
}
