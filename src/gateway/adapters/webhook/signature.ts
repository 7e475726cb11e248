// Who may send: a signature over the raw body, or GitLab's shared token (agent.md §7.9).
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { WebhookRoute } from "./routes.ts";

/** False without a secret: a route that anybody could call would be a way into the agent. */
export function isSigned(
  scheme: WebhookRoute["scheme"],
  secret: string | undefined,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): boolean {
  if (secret === undefined || secret === "") return false;
  switch (scheme) {
    case "gitlab":
      return isSame(one(headers["x-gitlab-token"]), secret);
    case "github":
      return isSame(one(headers["x-hub-signature-256"]), sign(secret, body));
    case "hmac-sha256":
      return isSame(one(headers["x-hermes-signature"]), sign(secret, body));
    case undefined:
      return isSame(
        one(headers["x-hermes-signature"]) ?? one(headers["x-hub-signature-256"]),
        sign(secret, body),
      );
  }
}

export function sign(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** In a time that tells nothing (digests have one length). */
function isSame(given: string | undefined, expected: string): boolean {
  return timingSafeEqual(digest(given ?? ""), digest(expected)) && given !== undefined;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
