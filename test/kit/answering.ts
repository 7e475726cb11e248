// Servers that answer one thing, or nothing: what a probe may meet.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { createServer as createTcp, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { tempDir } from "./temp-dir.ts";

/** What `GET /api/status` of ours says at least. */
export const OUR_STATUS =
  '{"version":"1.2.3","auth_required":true,"gateway_state":"stopped","auth_providers":["stub"]}';

/** Listens on a port of the kernel's choice until the test ends; gives `scheme://127.0.0.1:PORT`. */
export async function listen(t: TestContext, server: Server, scheme = "http"): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function answering(t: TestContext, handle: RequestListener): Promise<string> {
  return listen(t, createHttp(handle));
}

export function answeringWith(
  t: TestContext,
  status: number,
  body = "",
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  return answering(t, (_request, response) => response.writeHead(status, headers).end(body));
}

/** Below HTTP: `act` gets the connection once the first bytes have come. */
export function connecting(t: TestContext, act: (socket: Socket) => void): Promise<string> {
  return listen(
    t,
    createTcp((socket) => socket.once("data", () => act(socket))),
  );
}

/** An address where nobody listens. */
export async function refusing(): Promise<string> {
  const server = createTcp().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

const OPENSSL = "openssl";

/** https with a certificate that nobody vouches for. */
export function untrusted(t: TestContext): Promise<string> {
  const folder = tempDir(t, "tls");
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 1";
  const subject = ["-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert];
  execFileSync(OPENSSL, [...words.split(" "), ...subject], { stdio: "ignore" });
  const files = { key: readFileSync(key), cert: readFileSync(cert) };
  return listen(
    t,
    createHttps(files, (_request, response) => response.end(OUR_STATUS)),
    "https",
  );
}

export function hasOpenssl(): boolean {
  try {
    execFileSync(OPENSSL, ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
