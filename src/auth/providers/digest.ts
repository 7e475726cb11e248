// Digests of settings and secrets.
import { createHash, timingSafeEqual } from "node:crypto";

/** Which settings a session was made under (`ProviderBase.epoch`). Parts cannot run into each other. */
export function epochOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts), "utf8").digest("base64url");
}

/** In constant time, whatever the lengths. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
