// Headers of every answer (dashboard.md §2.6).
import { randomBytes } from "node:crypto";
import type { GateSettings } from "./settings.ts";

export const CSP_OTHER = "default-src 'none'; frame-ancestors 'none'";

/** `Referrer-Policy: no-referrer` would make a page post its forms with `Origin: null`: never that. */
export const ALWAYS: readonly (readonly [string, string])[] = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "same-origin"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Permissions-Policy", "camera=(), geolocation=(), microphone=()"],
];

export const HSTS = "max-age=31536000";

/** 16 random bytes, new for each answer. */
export function makeNonce(): string {
  return randomBytes(16).toString("base64");
}

/** Inline styles stay allowed: the terminal injects a style element and loses its colours without. */
export function cspForPage(nonce: string, extra: GateSettings["csp"]): string {
  const more = (hosts: readonly string[]): string => hosts.map((host) => ` ${host}`).join("");
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'unsafe-inline'${more(extra.style)}`,
    `img-src 'self' data: blob:${more(extra.img)}`,
    `font-src 'self' data:${more(extra.font)}`,
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
