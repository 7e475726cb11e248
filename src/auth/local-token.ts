// The credential of local mode: one token per process, served inside the page (dashboard.md §8.1).
import { createHash, timingSafeEqual } from "node:crypto";
import { randomToken, type RandomBytes } from "#base/ids.ts";

export interface LocalToken {
  readonly value: string;
  /** In constant time, whatever the length. */
  matches(presented: string): boolean;
}

export function createLocalToken(pinned: string | null, random: RandomBytes): LocalToken {
  const value = pinned ?? randomToken(random);
  const digest = digestOf(value);
  return { value, matches: (presented) => timingSafeEqual(digestOf(presented), digest) };
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
