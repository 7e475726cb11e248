// How the CLI itself reads the words of a container's command (container.md §4): which command, whose profile, help or not.
import type { Classified } from "#container/route.ts";
import { isProfileName } from "#profile/name.ts";
import { parseCommandLine } from "../command-line.ts";
import { findCommand } from "../registry.ts";

const ASKS: ReadonlySet<string> = new Set(["--version", "-V", "--help", "-h"]);
const INSTANT: ReadonlySet<string> = new Set(["version", "help", "completion"]);

export const isCommand = (word: string): boolean => findCommand(word) !== null;

/** Words that no command line of ours could be are not known: they end in a usage error that touches nothing. */
export async function classify(given: readonly string[]): Promise<Classified> {
  const { profile, words } = takeProfile(given);
  if (profile !== null && !isProfileName(profile)) return { known: false };
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  if (own.some((word) => ASKS.has(word)) || INSTANT.has(own[0] ?? "")) {
    return { known: true, path: own.slice(0, 1), isInstant: true, profile, noSupervise: false };
  }
  try {
    const { path, options } = await parseCommandLine(words);
    return {
      known: true,
      path,
      isInstant: false,
      profile,
      noSupervise: options["supervise"] === false,
    };
  } catch {
    return { known: false };
  }
}

/** As the launcher takes `-p NAME` out of the words. */
function takeProfile(given: readonly string[]): {
  readonly profile: string | null;
  readonly words: readonly string[];
} {
  const words: string[] = [];
  let profile: string | null = null;
  for (let index = 0; index < given.length; index++) {
    const word = given[index] ?? "";
    if (word === "--") return { profile, words: [...words, ...given.slice(index)] };
    if (word === "-p" || word === "--profile") profile = given[++index]?.toLowerCase() ?? "";
    else if (word.startsWith("--profile=")) profile = word.slice("--profile=".length).toLowerCase();
    else words.push(word);
  }
  return { profile, words };
}
