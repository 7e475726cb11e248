// What `docker run IMAGE …` runs (container.md §4): a pure table over the words, the terminal and PATH.
import type { Role } from "./boot-record.ts";

export interface RouteFacts {
  /** stdin of the container is a terminal. */
  readonly isTerminal: boolean;
  /** PID 1 is ours: slots can run. */
  readonly supervised: boolean;
  /** HERMES_GATEWAY_NO_SUPERVISE. */
  readonly noSupervise: boolean;
  /** An executable file of that name on PATH; shell builtins do not count. */
  isProgram(word: string): boolean;
  /** A top-level command of the CLI, or an alias of one. */
  isCommand(word: string): boolean;
  /** The CLI's own reading of words after `hermes`. */
  classify(words: readonly string[]): Promise<Classified>;
}

export type Classified =
  | {
      readonly known: true;
      /** `["gateway", "run"]`; `["chat"]` when no command was named. */
      readonly path: readonly string[];
      /** Help or version: nothing of the volume is needed. */
      readonly isInstant: boolean;
      readonly profile: string | null;
      readonly noSupervise: boolean;
    }
  | { readonly known: false };

export interface Routing {
  readonly role: Role;
  /** Profile of the command; `default` without one. */
  readonly profile: string;
  /** `unknown`: neither a command of ours nor a program; hermes ends with a usage error. */
  readonly kind: "hermes" | "program" | "hold" | "unknown";
  /** Words of the command as it is executed; empty for `hold`. */
  readonly argv: readonly string[];
}

/** Old entry points that a template may still name: dropped from the front. */
const ENTRIES: ReadonlySet<string> = new Set([
  "/init",
  "/opt/hermes/docker/entrypoint.sh",
  "/opt/hermes/docker/main-wrapper.sh",
]);

export async function route(given: readonly string[], facts: RouteFacts): Promise<Routing> {
  const words = withoutEntries(given);
  const [first] = words;
  if (first === undefined) return bare(facts);
  if (first.startsWith("-")) return ours(words, facts);
  if (first === "hermes") return words.length === 1 ? bare(facts) : ours(words.slice(1), facts);
  // A command of ours wins over a program of that name on PATH: `docker run IMAGE status` means ours.
  if (!first.includes("/") && facts.isCommand(first)) return ours(words, facts);
  if (first.includes("/") || facts.isProgram(first)) {
    return { role: "command", profile: "default", kind: "program", argv: words };
  }
  return { role: "instant", profile: "default", kind: "unknown", argv: ["hermes", ...words] };
}

function bare({ isTerminal }: RouteFacts): Routing {
  const role = isTerminal ? "command" : "serve";
  return { role, profile: "default", kind: "hermes", argv: ["hermes"] };
}

function withoutEntries(words: readonly string[]): readonly string[] {
  const [first] = words;
  if (first !== undefined && ENTRIES.has(first)) return withoutEntries(words.slice(1));
  if (first === "tini" || first === "/usr/bin/tini")
    return withoutEntries(afterTini(words.slice(1)));
  return words;
}

/** tini's own options end at `--` or at the first word without a dash; -p and -e take a value. */
function afterTini(words: readonly string[]): readonly string[] {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return words.slice(index + 1);
    if (!word.startsWith("-")) return words.slice(index);
    if (word === "-p" || word === "-e") index += 1;
  }
  return [];
}

async function ours(words: readonly string[], facts: RouteFacts): Promise<Routing> {
  const argv = ["hermes", ...words];
  const found = await facts.classify(words);
  if (!found.known) return { role: "instant", profile: "default", kind: "hermes", argv };
  const profile = found.profile ?? "default";
  if (found.isInstant) return { role: "instant", profile, kind: "hermes", argv };
  const [command, sub] = found.path;
  if (command === "gateway" && (sub === undefined || sub === "run")) {
    if (found.noSupervise || facts.noSupervise)
      return { role: "gateway-foreground", profile, kind: "hermes", argv };
    if (!facts.supervised) return { role: "gateway-foreground", profile, kind: "hermes", argv };
    return { role: "gateway", profile, kind: "hold", argv: [] };
  }
  if (command === "dashboard" && sub === undefined)
    return { role: "dashboard", profile, kind: "hermes", argv };
  if (command === "supervise") {
    return facts.supervised
      ? { role: "supervise", profile, kind: "hold", argv: [] }
      : { role: "supervise", profile, kind: "hermes", argv };
  }
  return { role: "command", profile, kind: "hermes", argv };
}
