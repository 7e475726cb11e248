// The one answer to "is the login gate on?" (product.md D11, dashboard.md §1.2). Pure.
import { isLoopbackHost, withoutBrackets } from "./addresses.ts";

export interface GateQuestion {
  readonly host: string;
  /** Only from the flag or the variable, never derived from the host. */
  readonly insecure: boolean;
  readonly publicUrl: URL | null;
}

export type GateReason = "host" | "public-url";

/** null: the gate is off. */
export function whyGate({ host, insecure, publicUrl }: GateQuestion): GateReason | null {
  if (insecure) return null;
  if (!isLoopbackHost(host)) return "host";
  return isBeyondLoopback(publicUrl) ? "public-url" : null;
}

export function shouldRequireAuth(question: GateQuestion): boolean {
  return whyGate(question) !== null;
}

/** A declared address that others can reach. */
export function isBeyondLoopback(publicUrl: URL | null): boolean {
  return publicUrl !== null && !isLoopbackHost(withoutBrackets(publicUrl.hostname));
}
