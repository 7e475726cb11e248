// What the browser does for each slash command of the shared registry (agent.md §10).
import { parseSlash, slashCommandsOf, type SlashCommand } from "#protocol/slash-commands.ts";

/** Commands that the dashboard has a way for; the rest of the registry is not offered here yet. */
const DONE_HERE = [
  "help",
  "status",
  "usage",
  "new",
  "stop",
  "undo",
  "retry",
  "compress",
  "title",
  "model",
  "reasoning",
  "approve",
  "deny",
  "queue",
  "steer",
  "yolo",
] as const;

export type WebCommand = (typeof DONE_HERE)[number];

export interface WebSlashCommand extends SlashCommand {
  readonly name: WebCommand;
}

function isDoneHere(command: SlashCommand): command is WebSlashCommand {
  return DONE_HERE.some((name) => name === command.name);
}

export const WEB_COMMANDS: readonly WebSlashCommand[] = slashCommandsOf("web").filter(isDoneHere);

export type SlashVerdict =
  | { readonly kind: "text" }
  | { readonly kind: "run"; readonly name: WebCommand; readonly args: string }
  | { readonly kind: "unknown"; readonly word: string }
  | { readonly kind: "ambiguous"; readonly word: string; readonly candidates: readonly string[] }
  | { readonly kind: "busy"; readonly name: string }
  | { readonly kind: "args"; readonly name: string; readonly args: string };

/** Reads a composer text: a command to run, why it cannot run, or plain text for the agent. */
export function readSlash(text: string, busy: boolean): SlashVerdict {
  const match = parseSlash(text, "web");
  if (match === null) return { kind: "text" };
  if (match.kind !== "command") return match;
  const { command, args } = match;
  if (!isDoneHere(command)) return { kind: "unknown", word: command.name };
  if (busy && command.busy !== "run") return { kind: "busy", name: command.name };
  if (args === "" && command.args !== "" && !command.args.startsWith("[")) {
    return { kind: "args", name: command.name, args: command.args };
  }
  return { kind: "run", name: command.name, args };
}

/** Commands whose name or alias begins with what is typed after `/`; null: no menu. */
export function slashMenu(draft: string): readonly WebSlashCommand[] | null {
  const typed = /^\/([A-Za-z-]*)$/.exec(draft);
  if (!typed) return null;
  const start = (typed[1] ?? "").toLowerCase();
  const found = WEB_COMMANDS.filter((command) =>
    [command.name, ...command.aliases].some((name) => name.startsWith(start)),
  );
  return found.length === 0 ? null : found;
}
