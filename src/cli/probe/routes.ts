// Which way a probe takes: straight to loopback, else as HTTP_PROXY, HTTPS_PROXY and NO_PROXY say (dashboard.md §13).
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isLoopbackHost } from "#auth/addresses.ts";
import { EXIT } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type ProxyVariable = "HTTP_PROXY" | "HTTPS_PROXY";

/** Throws PROXY_INVALID (78) when a proxy is set that could not be used: Node would leave it out without a word. */
export function openRoutes(urls: readonly URL[], env: Environment): (url: URL) => HttpAgent {
  const direct = openAgents({});
  if (urls.every(isDirect)) return direct;
  const proxied = openAgents({
    HTTP_PROXY: readProxy("HTTP_PROXY", env),
    HTTPS_PROXY: readProxy("HTTPS_PROXY", env),
    NO_PROXY: read("NO_PROXY", env),
  });
  return (url) => (isDirect(url) ? direct : proxied)(url);
}

function isDirect(url: URL): boolean {
  return isLoopbackHost(url.hostname);
}

/** `proxyEnv` is handed in even when it is empty, so that nothing is read from the process. */
function openAgents(proxyEnv: Record<string, string>): (url: URL) => HttpAgent {
  const http = new HttpAgent({ keepAlive: false, proxyEnv });
  const https = new HttpsAgent({ keepAlive: false, proxyEnv });
  return (url) => (url.protocol === "https:" ? https : http);
}

/** The lower-case spelling first, as curl and most libraries read them. */
function read(name: string, env: Environment): string {
  return (env[name.toLowerCase()] ?? env[name] ?? "").trim();
}

/** The value may hold a password: it is not in the message. */
function readProxy(name: ProxyVariable, env: Environment): string {
  const value = read(name, env);
  if (value === "" || /^https?:$/u.test(URL.parse(value)?.protocol ?? "")) return value;
  throw new HermesError("PROXY_INVALID", `${name} is not an http:// or https:// address.`, {
    exit: EXIT.refused,
    setting: name,
    fix: "Set it to the address of a proxy or unset it.",
  });
}
