// Which tools a session gets: sets by name, minus what is taken away everywhere (agent.md §5.1).

/** Sets of which a tool is a member by its own `toolset` need no entry here. */
const BUILT_IN: Readonly<Record<string, (tool: Offered) => boolean>> = {
  "hermes-cli": () => true,
  "hermes-webhook": (tool) => tool.name === "web_search" || tool.name === "web_extract",
  "hermes-cron": (tool) => tool.name !== "cronjob" && tool.name !== "clarify",
  safe: (tool) => tool.toolset !== "terminal" && !WRITES.has(tool.name),
};

const WRITES: ReadonlySet<string> = new Set([
  "write_file",
  "patch",
  "memory",
  "skill_manage",
  "cronjob",
]);
/** Own sets may name own sets; a circle ends here. */
const MAX_NESTING = 8;

interface Offered {
  readonly name: string;
  readonly toolset: string;
}

export interface ToolsetChoice {
  readonly toolsets: readonly string[];
  readonly disabled: readonly string[];
  readonly custom: Readonly<Record<string, readonly string[]>>;
}

export interface Chosen<T> {
  readonly tools: readonly T[];
  /** Names that are no set, no tool and no own set. */
  readonly unknown: readonly string[];
}

/** Keeps the order of `tools`, whatever the order of the sets: the list on the wire is byte-stable (I1). */
export function chooseTools<T extends Offered>(
  tools: readonly T[],
  choice: ToolsetChoice,
): Chosen<T> {
  const unknown = new Set<string>();
  const named = (set: string): ReadonlySet<string> =>
    membersOf(set, tools, choice.custom, unknown, 0);
  const wanted = new Set(choice.toolsets.flatMap((set) => [...named(set)]));
  const taken = new Set(choice.disabled.flatMap((set) => [...named(set)]));
  return {
    tools: tools.filter((tool) => wanted.has(tool.name) && !taken.has(tool.name)),
    unknown: [...unknown],
  };
}

function membersOf(
  set: string,
  tools: readonly Offered[],
  custom: ToolsetChoice["custom"],
  unknown: Set<string>,
  depth: number,
): ReadonlySet<string> {
  const own = Object.hasOwn(custom, set) ? custom[set] : undefined;
  if (own && depth < MAX_NESTING) {
    return new Set(own.flatMap((name) => [...membersOf(name, tools, custom, unknown, depth + 1)]));
  }
  const rule = ruleOf(set);
  const members = tools.filter((tool) => rule(tool)).map((tool) => tool.name);
  if (members.length === 0) unknown.add(set);
  return new Set(members);
}

function ruleOf(set: string): (tool: Offered) => boolean {
  const builtIn = Object.hasOwn(BUILT_IN, set) ? BUILT_IN[set] : undefined;
  if (builtIn) return builtIn;
  // `hermes-telegram` and kin: a chat platform gets everything.
  if (set.startsWith("hermes-")) return () => true;
  return (tool) => tool.toolset === set || tool.name === set;
}
