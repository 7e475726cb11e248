// `drain`: whoever holds the secret may drain the gateway (dashboard.md §5.6). Machines hold it, so it must not be guessable.
import type { Offer } from "./registry.ts";
import type { Secret } from "./secret.ts";
import { createTokenProvider, FOR_PROGRAMS } from "./token-provider.ts";

const VARIABLE = "HERMES_DASHBOARD_DRAIN_SECRET";
const LEAST_CHARACTERS = 43;
const LEAST_DISTINCT = 16;
const LEAST_BITS = 128;

export function offerDrain(secret: Secret | null): Offer {
  const name = "drain";
  if (secret === null) {
    return { status: "skipped", name, reason: `${VARIABLE} is not set (${FOR_PROGRAMS})` };
  }
  const weakness = weaknessOf(secret.reveal());
  if (weakness !== null) {
    const reason = `${VARIABLE} is too weak: ${weakness}; 32 random bytes as base64url will do`;
    return { status: "invalid", name, reason };
  }
  const provider = createTokenProvider({
    name,
    displayName: "Drain",
    scope: "gateway:drain",
    secret,
  });
  return { status: "ready", name, provider, warnings: [] };
}

/** The measure that failed, or null. The numbers say nothing about the secret itself. */
export function weaknessOf(text: string): string | null {
  const characters = Array.from(text);
  if (characters.length < LEAST_CHARACTERS) {
    return `${characters.length} characters, at least ${LEAST_CHARACTERS} are needed`;
  }
  const distinct = new Set(characters).size;
  if (distinct < LEAST_DISTINCT) {
    return `${distinct} different characters, at least ${LEAST_DISTINCT} are needed`;
  }
  const bits = shannonBits(characters);
  return bits < LEAST_BITS ? `${Math.floor(bits)} bits, at least ${LEAST_BITS} are needed` : null;
}

/** Shannon entropy of the whole text: length times the entropy of its own character frequencies. */
function shannonBits(characters: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1);
  const total = characters.length;
  return [...counts.values()].reduce((sum, count) => sum - count * Math.log2(count / total), 0);
}
