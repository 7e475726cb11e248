// Names of profiles (agent.md §8).
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";

declare const brand: unique symbol;
/** A name that a profile may have; made only by `parseProfileName`. */
export type ProfileName = string & { readonly [brand]: true };

export const DEFAULT_PROFILE = "default";

const RESERVED: ReadonlySet<string> = new Set(["hermes", "test", "tmp", "root", "sudo"]);

/** The form of a name, reserved words aside: what a directory in `profiles/` must be called to count. */
export function isProfileName(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(text);
}

/**
 * Trims and lower-cases. `commandWords` are the words of the command line: a profile's alias must never hide one.
 * Throws `PROFILE_NAME_INVALID` (64).
 */
export function parseProfileName(text: string, commandWords: Iterable<string>): ProfileName {
  const name = text.trim().toLowerCase();
  if (!isProfileName(name)) {
    throw invalid(
      text,
      "a name has 1 to 64 of a-z, 0-9, _ and -, and starts with a letter or digit",
    );
  }
  if (name === DEFAULT_PROFILE)
    throw invalid(name, "it is the profile of the root home and always there");
  if (RESERVED.has(name)) throw invalid(name, "the word is reserved");
  if (new Set(commandWords).has(name)) throw invalid(name, `"hermes ${name}" is a command`);
  return name as ProfileName;
}

function invalid(name: string, why: string): HermesError {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  return new HermesError("PROFILE_NAME_INVALID", `${shown} cannot name a profile: ${why}`, {
    exit: EXIT.usage,
    fix: "Choose another name.",
  });
}
