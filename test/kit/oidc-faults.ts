// What a test issuer does wrong at which endpoint, and how often each was asked.
import type { IncomingMessage, ServerResponse } from "node:http";

export type Endpoint =
  | "discovery"
  | "authorize"
  | "token"
  | "jwks"
  | "userinfo"
  | "revocation"
  | "other";

export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly json?: unknown }
  /** A page, as a captive portal or a broken proxy gives one. */
  | { readonly kind: "html"; readonly status?: number }
  /** 10 MB of JSON. */
  | { readonly kind: "huge" }
  /** Not JSON, although it says so. */
  | { readonly kind: "broken" }
  | { readonly kind: "redirect"; readonly to: string }
  /** The connection breaks. */
  | { readonly kind: "cut" }
  /** Nothing ever comes. */
  | { readonly kind: "hang" }
  | { readonly kind: "delay"; readonly ms: number };

export interface Hold {
  /** Requests that wait now. */
  waiting(): number;
  /** Lets them and all later ones pass. */
  release(): void;
}

export interface Faults {
  readonly calls: Readonly<Record<Endpoint, number>>;
  /** null: behaves. `"*"`: everywhere. */
  set(endpoint: Endpoint | "*", fault: Fault | null): void;
  /** Requests to an endpoint wait until they are released. */
  hold(endpoint: Endpoint): Hold;
  /** True: the request was answered (or never will be). */
  meet(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

const HUGE_BYTES = 10 * 1024 * 1024;

export function createFaults(): Faults {
  const calls: Record<Endpoint, number> = {
    discovery: 0,
    authorize: 0,
    token: 0,
    jwks: 0,
    userinfo: 0,
    revocation: 0,
    other: 0,
  };
  const faults = new Map<Endpoint | "*", Fault>();
  const holds = new Map<Endpoint, (() => void)[]>();
  return {
    calls,
    set(endpoint, fault) {
      if (fault === null) faults.delete(endpoint);
      else faults.set(endpoint, fault);
    },
    hold(endpoint) {
      const line: (() => void)[] = [];
      holds.set(endpoint, line);
      return {
        waiting: () => line.length,
        release() {
          holds.delete(endpoint);
          for (const go of line.splice(0)) go();
        },
      };
    },
    async meet(endpoint, _request, response) {
      calls[endpoint]++;
      const line = holds.get(endpoint);
      if (line) {
        await new Promise<void>((resolve) => {
          line.push(resolve);
        });
      }
      const fault = faults.get(endpoint) ?? faults.get("*");
      return fault ? commit(fault, response) : false;
    },
  };
}

async function commit(fault: Fault, response: ServerResponse): Promise<boolean> {
  switch (fault.kind) {
    case "status":
      response.writeHead(fault.status, { "content-type": "application/json" });
      response.end(JSON.stringify(fault.json ?? { error: "server_error" }));
      return true;
    case "html":
      response.writeHead(fault.status ?? 200, { "content-type": "text/html" });
      response.end("<!doctype html><title>Sign in to the airport's network</title>");
      return true;
    case "huge":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ padding: "x".repeat(HUGE_BYTES) }));
      return true;
    case "broken":
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"access_token":');
      return true;
    case "redirect":
      response.writeHead(302, { location: fault.to });
      response.end();
      return true;
    case "cut":
      response.destroy();
      return true;
    case "hang":
      return true;
    case "delay":
      await new Promise((resolve) => {
        setTimeout(resolve, fault.ms);
      });
      return false;
  }
}
