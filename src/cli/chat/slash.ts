// What each slash command does at a terminal. The names, surfaces and busy rules are protocol/slash-commands.ts.
import { epochSeconds, systemClock } from "#base/clock.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { HermesError } from "#base/errors.ts";
import { nearestWords } from "#base/text.ts";
import type { ApprovalChoice } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import { parseSlash, slashCommandsOf, type SlashCommand } from "#protocol/slash-commands.ts";
import type { SessionService } from "#session/types.ts";
import { sessionLines } from "../session-lines.ts";
import { TOOL_PROGRESS, type ToolProgress } from "./screen.ts";

/** What a conversation at a terminal offers to its commands. */
export interface SlashHost {
  readonly sessions: SessionService;
  readonly store: SessionStore;
  /** null before the first message of a new conversation. */
  readonly session: SessionRow | null;
  readonly running: boolean;
  readonly profile: string;
  readonly home: string;
  /** `provider:model` of the session, or of the next one. */
  modelName(): string;
  print(text: string): void;
  /** Starts a conversation where there is none yet. */
  ensureSession(): Promise<SessionRow>;
  /** null: a new one. */
  switchTo(session: SessionRow | null, title?: string): Promise<void>;
  send(text: string, whenBusy: "queue" | "steer"): Promise<void>;
  retry(): Promise<void>;
  answer(choice: ApprovalChoice): Promise<void>;
  toolNames(): Promise<readonly string[]>;
  memoryText(): string;
  toggleYolo(): Promise<boolean>;
  toolProgress(mode: ToolProgress | null): ToolProgress;
  /** Lets the user choose one of the recent sessions. */
  offerSessions(): Promise<void>;
  quit(): void;
}

type Handler = (host: SlashHost, args: string) => Promise<void> | void;

/** Runs one typed `/…` line. Never throws for what the user typed: it says what is wrong. */
export async function runSlash(host: SlashHost, text: string): Promise<void> {
  const match = parseSlash(text, "terminal");
  if (!match)
    return host.print("That is no command. /help lists them; to send it, put a space in front.");
  if (match.kind === "ambiguous") {
    return host.print(
      `/${match.word} could be ${match.candidates.map((name) => `/${name}`).join(", ")}`,
    );
  }
  if (match.kind === "unknown") {
    const names = slashCommandsOf("terminal").flatMap((entry) => [entry.name, ...entry.aliases]);
    const nearest = nearestWords(match.word, names).map((name) => `/${name}`);
    return host.print(
      `/${match.word} is unknown.${nearest.length > 0 ? ` Did you mean ${nearest.join(", ")}?` : ""} /help lists all.`,
    );
  }
  const { command, args } = match;
  if (host.running && command.busy === "refuse") {
    return host.print(`/${command.name} waits for the turn to end; /stop interrupts it.`);
  }
  if (args === "" && command.args !== "" && !command.args.startsWith("[")) {
    return host.print(`/${command.name} ${command.args}: ${command.help}`);
  }
  await HANDLERS[command.name]?.(host, args);
}

/** The names that have a handler; a test compares them with the registry. */
export function handledCommands(): readonly string[] {
  return Object.keys(HANDLERS);
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  help: (host, args) => host.print(helpText(args)),
  status: showStatus,
  usage: showUsage,
  whoami: (host) => host.print(`profile ${host.profile}, home ${host.home}; you are its owner`),
  tools: async (host) => host.print((await host.toolNames()).join("\n")),
  new: (host, args) => host.switchTo(null, args === "" ? undefined : args),
  stop: stopTurn,
  undo: async (host) => {
    const { id } = needSession(host);
    host.print(`${await host.sessions.undo(id)} messages taken out of the conversation.`);
  },
  retry: (host) => host.retry(),
  compress: async (host, args) => {
    const { id } = needSession(host);
    const result = await host.sessions.compress(id, args === "" ? undefined : args);
    host.print(
      result.ok
        ? `Summarised; the conversation goes on as ${result.sessionId}.`
        : "Nothing was compressed.",
    );
  },
  title: async (host, args) => {
    const session = await host.ensureSession();
    const renamed = await host.sessions.rename(session.id, args);
    host.print(`Title: ${renamed.title ?? ""}`);
  },
  model: async (host, args) => {
    if (args === "")
      return host.print(`${host.modelName()}. Change: /model ID or /model PROVIDER:ID`);
    const session = await host.ensureSession();
    const row = await host.sessions.setModel(session.id, { model: args });
    host.print(`Model of this session: ${row.model ?? args}`);
  },
  reasoning: async (host, args) => {
    const session = await host.ensureSession();
    await host.sessions.setEffort(session.id, args);
    host.print(`Reasoning effort from the next call on: ${args}`);
  },
  memory: (host) => host.print(host.memoryText()),
  approve: async (host, args) => {
    const choice = args === "" ? "once" : args;
    if (choice === "once" || choice === "session" || choice === "always")
      return host.answer(choice);
    host.print("/approve once, session or always");
  },
  deny: (host) => host.answer("deny"),
  queue: (host, args) => host.send(args, "queue"),
  steer: (host, args) => host.send(args, "steer"),
  yolo: async (host) => {
    const on = await host.toggleYolo();
    host.print(
      on
        ? "Approvals are skipped in this session, except for what is never run."
        : "Approvals are asked for again.",
    );
  },
  resume: async (host, args) => {
    if (args === "") return host.offerSessions();
    await host.switchTo(await host.sessions.resolve(args));
  },
  sessions: listSessions,
  search: async (host, args) => {
    const { hits, partial } = await host.store.search(args, { limit: 10 });
    const lines = hits.map(
      (hit) => `${hit.sessionId}  ${hit.title ?? ""}\n    ${hit.snippet.replaceAll("\n", " ")}`,
    );
    host.print(
      [
        ...lines,
        ...(partial ? ["(the index is not complete yet)"] : []),
        ...(lines.length === 0 ? ["Nothing found."] : []),
      ].join("\n"),
    );
  },
  verbose: (host, args) => {
    const mode = TOOL_PROGRESS.find((word) => word === args) ?? null;
    if (args !== "" && mode === null) return host.print(`/verbose ${TOOL_PROGRESS.join(", ")}`);
    host.print(`Tools: ${host.toolProgress(mode)}`);
  },
  quit: (host) => host.quit(),
};

/** A turn of another process goes on: only that process can end it. */
async function stopTurn(host: SlashHost): Promise<void> {
  const { session } = host;
  if (session === null) return host.print("Nothing runs.");
  if (await host.sessions.stop(session.id)) return;
  const { sessionId } = await host.sessions.state(session.id);
  const holder = await host.store.leaseOf(sessionId, epochSeconds(systemClock));
  if (holder === null) return host.print("Nothing runs.");
  host.print(
    `The turn was started from ${holder.surface}, in another process (${holder.pid}): stop it there.`,
  );
}

function helpText(word: string): string {
  const commands = slashCommandsOf("terminal");
  const wanted = word.replace(/^\//, "");
  const one = commands.find((entry) => entry.name === wanted || entry.aliases.includes(wanted));
  if (one) return `${usageOf(one)}  ${one.help}`;
  const width = Math.max(...commands.map((entry) => usageOf(entry).length));
  const lines = commands.map((entry) => `${usageOf(entry).padEnd(width)}  ${entry.help}`);
  return [
    ...lines,
    `${"!COMMAND".padEnd(width)}  Run a shell command yourself, without the model`,
  ].join("\n");
}

function usageOf(command: SlashCommand): string {
  return `/${command.name}${command.args === "" ? "" : ` ${command.args}`}`;
}

async function showStatus(host: SlashHost): Promise<void> {
  const lines = [`model    ${host.modelName()}`, `profile  ${host.profile}`];
  if (host.session === null) lines.push("session  none yet");
  else {
    const state = await host.sessions.state(host.session.id);
    const { used, window } = state.context;
    lines.push(
      `session  ${state.sessionId}${host.session.title === null ? "" : `  ${host.session.title}`}`,
      `state    ${state.status}${state.holder === null ? "" : ` (${state.holder})`}`,
      `context  ${used} of ${window} tokens`,
    );
  }
  host.print(lines.join("\n"));
}

async function showUsage(host: SlashHost): Promise<void> {
  const row = host.session && (await host.store.getSession(host.session.id));
  if (!row) return host.print("Nothing used yet.");
  const { input, output, cacheRead, cacheWrite, reasoning } = row.usage;
  host.print(
    `${row.apiCallCount} calls; tokens: ${input} in, ${output} out, ${reasoning} reasoning, ${cacheRead} read from cache, ${cacheWrite} written` +
      (row.costUsd === null ? "" : `; ${row.costUsd.toFixed(4)} US dollars`),
  );
}

async function listSessions(host: SlashHost): Promise<void> {
  const sessions = await recentSessions(host, 10);
  host.print([...sessionLines(sessions), "Go on with one: /resume ID"].join("\n"));
}

export async function recentSessions(
  host: Pick<SlashHost, "store">,
  limit: number,
): Promise<readonly SessionRow[]> {
  return (await host.store.listSessions({ limit, offset: 0 })).sessions;
}

function needSession(host: SlashHost): SessionRow {
  if (host.session) return host.session;
  throw new HermesError("NOTHING_TO_RETRY", "Nothing was said yet.");
}
