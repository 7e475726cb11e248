// Which way a request to an issuer takes: straight or through the environment's proxy (dashboard.md §5.1).
// Loaded lazily with the first request. The import is static on purpose: bundled, a dynamic import of a CommonJS package has no names.
import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";
import { isLoopbackHost } from "../addresses.ts";
import { AuthError } from "./auth-error.ts";

/** Values of `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; "" is none. */
export interface ProxySettings {
  readonly http: string;
  readonly https: string;
  readonly none: string;
}

export interface Routes {
  /** Loopback never goes through a proxy. Throws `unreachable` when the proxy's address is no URL. */
  towards(url: URL): Dispatcher;
}

const connect = { timeout: 10_000 } as const;

export function openRoutes(settings: ProxySettings): Routes {
  const direct = new Agent({ connect });
  let proxied: Dispatcher | null = null;
  return {
    towards(url) {
      const hasProxy = settings.http !== "" || settings.https !== "";
      if (!hasProxy || isLoopbackHost(url.hostname)) return direct;
      proxied ??= openProxied(settings);
      return proxied;
    },
  };
}

/** Every value is handed in, "" too: what is left out, undici would read from the process. */
function openProxied({ http, https, none }: ProxySettings): Dispatcher {
  refuseBadProxy("HTTP_PROXY", http);
  refuseBadProxy("HTTPS_PROXY", https);
  return new EnvHttpProxyAgent({ httpProxy: http, httpsProxy: https, noProxy: none, connect });
}

/** The value may hold a password: it is not in the message. */
function refuseBadProxy(name: string, value: string): void {
  if (value === "" || /^https?:$/u.test(URL.parse(value)?.protocol ?? "")) return;
  throw new AuthError(
    "unreachable",
    `${name} is not an http(s) URL, so that no issuer can be asked`,
  );
}
