// A proxy that is wrong on purpose: it passes everything on, but drops the session's Set-Cookie lines, as caches and old load
// balancers have done (field-rules G06). HTTP only.
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface CookieEater {
  readonly port: number;
  /** Passes on to this port of loopback from now on. */
  publish(port: number): void;
}

export async function startCookieEater(t: TestContext, dropped: string): Promise<CookieEater> {
  let upstream = 0;
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, url, headers } = incoming;
    const asked = request(
      { host: "127.0.0.1", port: upstream, method, path: url, headers, agent: false },
      (answer) => {
        const kept = (answer.headers["set-cookie"] ?? []).filter(
          (line) => !line.startsWith(`${dropped}=`),
        );
        const { "set-cookie": _all, ...rest } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, {
          ...rest,
          ...(kept.length > 0 ? { "set-cookie": kept } : {}),
        });
        answer.pipe(outgoing);
      },
    );
    asked.on("error", () => outgoing.destroy());
    incoming.pipe(asked);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    publish: (port) => (upstream = port),
  };
}
