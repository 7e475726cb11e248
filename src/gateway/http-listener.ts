// A listening HTTP server of ours: limits of its own, a taken port told apart, an end that does not wait for idle clients.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errnoOf, messageOf } from "#base/errors.ts";

export interface Listener {
  /** The real one where 0 was asked for. */
  readonly port: number;
  /** Takes no new connection, lets running answers end within `limitMs`, then cuts what is left. */
  close(limitMs: number): Promise<void>;
}

export type ListenResult =
  | { readonly ok: true; readonly listener: Listener }
  | { readonly ok: false; readonly isTaken: boolean; readonly message: string };

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
}

export function listen({ host, port, handle }: ListenOptions): Promise<ListenResult> {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 15_000,
      requestTimeout: 120_000,
      connectionsCheckingInterval: 2000,
    },
    handle,
  );
  return new Promise((resolve) => {
    server.once("error", (error) =>
      resolve({ ok: false, isTaken: errnoOf(error) === "EADDRINUSE", message: messageOf(error) }),
    );
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners("error");
      server.on("error", () => undefined);
      resolve({ ok: true, listener: listenerOf(server) });
    });
  });
}

function listenerOf(server: Server): Listener {
  return {
    port: (server.address() as AddressInfo).port,
    close(limitMs) {
      return new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), limitMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}
