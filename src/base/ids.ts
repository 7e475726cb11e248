// Identifiers. Randomness comes in as a function so that tests are repeatable.
import { randomBytes } from "node:crypto";

/** Returns `count` random bytes. */
export type RandomBytes = (count: number) => Uint8Array;

export const systemRandom: RandomBytes = (count) => randomBytes(count);

export function randomHex(digits: number, random: RandomBytes = systemRandom): string {
  return Buffer.from(random(Math.ceil(digits / 2)))
    .toString("hex")
    .slice(0, digits);
}

/** 32 random bytes as base64url (43 characters): tokens, tickets, nonces. */
export function randomToken(random: RandomBytes = systemRandom): string {
  return Buffer.from(random(32)).toString("base64url");
}

/** `YYYYMMDD_HHMMSS_<hex>` in local time; 6 hex digits, 8 from the gateway (agent.md §6.6). */
export function makeSessionId(
  nowMs: number,
  digits: 6 | 8 = 6,
  random: RandomBytes = systemRandom,
): string {
  const at = new Date(nowMs);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
  return `${day}_${time}_${randomHex(digits, random)}`;
}
