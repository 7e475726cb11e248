// The one registry of slash commands (agent.md §10): data only, so that the REPL, the browser's menu and chat apps share it.

/** `terminal` is the REPL and the TUI, `web` the dashboard's chat, `chat-app` the gateway's platforms. */
export type SlashSurface = "terminal" | "web" | "chat-app";

export interface SlashCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly surfaces: readonly SlashSurface[];
  /** What happens while a turn runs: do it now, after the turn, or refuse. */
  readonly busy: "run" | "queue" | "refuse";
  /** Synopsis of the arguments; "" when there are none. `[x]` may be left out. */
  readonly args: string;
  readonly help: string;
}

const ALL: readonly SlashSurface[] = ["terminal", "web", "chat-app"];
const TERMINAL: readonly SlashSurface[] = ["terminal"];

function entry(
  name: string,
  surfaces: readonly SlashSurface[],
  busy: SlashCommand["busy"],
  args: string,
  help: string,
  aliases: readonly string[] = [],
): SlashCommand {
  return { name, aliases, surfaces, busy, args, help };
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  entry("help", ALL, "run", "[COMMAND]", "List the commands, or explain one"),
  entry("status", ALL, "run", "", "Model, session, state, context used"),
  entry("usage", ALL, "run", "", "Tokens and calls of this session"),
  entry("whoami", ALL, "run", "", "Profile, home and who the agent takes you for"),
  entry("tools", ALL, "run", "", "The tools that this session offers"),
  entry("new", ALL, "run", "[TITLE]", "Start a new session", ["reset"]),
  entry("stop", ALL, "run", "", "Interrupt the running turn; what was shown is kept"),
  entry("undo", ALL, "refuse", "", "Take the last exchange out of the conversation"),
  entry("retry", ALL, "refuse", "", "Ask for the last answer again"),
  entry("compress", ALL, "refuse", "[FOCUS]", "Summarise the conversation to free context"),
  entry("title", ALL, "refuse", "TITLE", "Give this session a title"),
  entry("model", ALL, "refuse", "[ID]", "Show or change the model of this session"),
  entry(
    "reasoning",
    ALL,
    "refuse",
    "LEVEL",
    "Reasoning effort from the next call on: none, low, medium, high",
  ),
  entry("memory", ALL, "refuse", "", "Show what the agent remembers"),
  entry("approve", ALL, "run", "[once|session|always]", "Allow what the agent asks for"),
  entry("deny", ALL, "run", "", "Refuse what the agent asks for"),
  entry("queue", ALL, "run", "TEXT", "Send this after the running turn"),
  entry("steer", ALL, "run", "TEXT", "Tell the running turn something without stopping it"),
  entry("yolo", ALL, "run", "", "Switch approvals off or on for this session"),
  entry("resume", TERMINAL, "refuse", "[SESSION]", "Go on with another session"),
  entry("sessions", TERMINAL, "refuse", "", "List recent sessions"),
  entry("search", TERMINAL, "refuse", "QUERY", "Search all conversations"),
  entry("verbose", TERMINAL, "refuse", "[off|new|all|verbose]", "How much of the tools is shown"),
  entry("quit", TERMINAL, "refuse", "", "Leave; the session is kept", ["exit"]),
];

export type SlashMatch =
  | { readonly kind: "command"; readonly command: SlashCommand; readonly args: string }
  | { readonly kind: "ambiguous"; readonly word: string; readonly candidates: readonly string[] }
  | { readonly kind: "unknown"; readonly word: string };

/** Commands of one surface, in the order in which help shows them. */
export function slashCommandsOf(surface: SlashSurface): readonly SlashCommand[] {
  return SLASH_COMMANDS.filter((command) => command.surfaces.includes(surface));
}

/** Reads `/word args`. Full names and aliases win over prefixes; a unique prefix works. null: no slash command at all. */
export function parseSlash(text: string, surface: SlashSurface): SlashMatch | null {
  const match = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (!match) return null;
  const word = (match[1] ?? "").toLowerCase();
  const args = (match[2] ?? "").trim();
  const commands = slashCommandsOf(surface);
  const exact = commands.find((entry) => entry.name === word || entry.aliases.includes(word));
  if (exact) return { kind: "command", command: exact, args };
  const candidates = commands.filter((entry) =>
    [entry.name, ...entry.aliases].some((name) => name.startsWith(word)),
  );
  const [only] = candidates;
  if (only && candidates.length === 1) return { kind: "command", command: only, args };
  if (candidates.length === 0) return { kind: "unknown", word };
  return { kind: "ambiguous", word, candidates: candidates.map((entry) => entry.name) };
}
