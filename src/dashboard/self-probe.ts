// Up is not ready: the dashboard asks itself before anybody is told (product.md D3, field-rules A10).
import { request } from "node:http";
import { hostInUrl, isWildcardHost, withoutBrackets } from "#auth/addresses.ts";
import { HermesError, messageOf } from "#base/errors.ts";

const DEADLINE_MS = 10_000;

/** What the kernel is asked to bind: no brackets; `localhost` is 127.0.0.1, whatever the resolver says. */
export function bindAddress(host: string): string {
  return host.toLowerCase() === "localhost" ? "127.0.0.1" : withoutBrackets(host);
}

/** As a local client names it: wildcards are reached on loopback. */
export function reachableHost(host: string): string {
  if (!isWildcardHost(host)) return host;
  return host.includes(":") ? "::1" : "127.0.0.1";
}

/** Rejects with NOT_ANSWERING (exit 1) on anything but 200 within 10 s. No proxy, own Host. */
export function probeSelf(host: string, port: number): Promise<void> {
  const target = reachableHost(host);
  const authority = `${hostInUrl(target)}:${port}`;
  return new Promise((resolve, reject) => {
    const give = (why: string): void =>
      reject(
        new HermesError(
          "NOT_ANSWERING",
          `The dashboard is bound to ${authority} but does not answer its own health check: ${why}.`,
        ),
      );
    const question = request(
      {
        host: bindAddress(target),
        port,
        path: "/api/health",
        headers: { Host: authority },
        agent: false,
        signal: AbortSignal.timeout(DEADLINE_MS),
      },
      (answer) => {
        answer.resume();
        if (answer.statusCode === 200) answer.on("end", resolve);
        else give(`status ${answer.statusCode ?? 0}`);
      },
    );
    question.on("error", (error) => give(messageOf(error)));
    question.end();
  });
}
