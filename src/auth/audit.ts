// The audit trail of the door: <home>/logs/dashboard-auth.log, one JSON object per line (dashboard.md §10).
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";

export type AuditEvent =
  | "login_start"
  | "login_success"
  | "login_failure"
  | "logout"
  | "refresh_success"
  | "refresh_failure"
  | "session_verify_failure"
  | "session_revoked"
  | "ws_ticket_minted"
  | "ws_ticket_rejected"
  | "token_auth_success"
  | "token_auth_failure"
  | "native_code_issued"
  | "native_token_success"
  | "native_token_failure"
  | "rate_limited"
  | "env_revealed"
  | "plugin_enabled"
  | "plugin_disabled"
  | "service_action";

/** Never written, at any depth. */
const DROPPED: ReadonlySet<string> = new Set([
  "access_token",
  "refresh_token",
  "id_token",
  "code",
  "code_verifier",
  "state",
  "nonce",
  "ticket",
  "token",
  "cookie",
  "password",
  "authorization",
]);

export interface Audit {
  /** Never throws: a failed write is one warning. */
  write(event: AuditEvent, fields: Readonly<Record<string, unknown>>): void;
}

export interface AuditOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly backups: number;
  readonly clock: Clock;
  readonly log: Log;
}

export function createAudit(options: AuditOptions): Audit {
  let warned = false;
  return {
    write(event, fields) {
      const ts = new Date(options.clock.now()).toISOString();
      const line = `${JSON.stringify({ ts, event, ...(withoutSecrets(fields) as object) })}\n`;
      try {
        mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
        rotate(options);
        appendFileSync(options.path, line, { mode: 0o600 });
      } catch (error) {
        if (!warned) options.log.warn(`audit log cannot be written: ${messageOf(error)}`);
        warned = true;
      }
    },
  };
}

/** First 16 hex digits of the digest: tells devices apart without storing what they are. */
export function deviceOf(userAgent: string | undefined): string {
  return createHash("sha256")
    .update(userAgent ?? "")
    .digest("hex")
    .slice(0, 16);
}

function rotate({ path, maxBytes, backups }: AuditOptions): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytes) return;
  for (let n = backups; n >= 1; n--) {
    const from = n === 1 ? path : `${path}.${n - 1}`;
    if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${path}.${n}`);
  }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !DROPPED.has(key.toLowerCase()))
      .map(([key, inner]) => [key, withoutSecrets(inner)]),
  );
}
