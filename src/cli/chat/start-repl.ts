// Wires the plain line interface to what is open.
import { join } from "node:path";
import type { ExitCode } from "#base/exit-codes.ts";
import { messageOf } from "#base/errors.ts";
import { chooseModel } from "#model/choose.ts";
import type { SessionRow } from "#protocol/messages.ts";
import { choiceDeps } from "../commands/chat.ts";
import type { OptionValues } from "../command-line.ts";
import { flagOption, textOption, type Context } from "../context.ts";
import { memoryText } from "../memory-text.ts";
import { readVersion } from "../version.ts";
import { openHistory } from "./history.ts";
import { MarkdownStream } from "./markdown-stream.ts";
import { toolNames } from "./list-tools.ts";
import type { OpenChat } from "./open-chat.ts";
import { runRepl } from "./repl.ts";
import { chooseSession } from "./session-choice.ts";
import { openShellRunner } from "./shell-command.ts";

export async function startRepl(
  context: Context,
  chat: OpenChat,
  firstMessage: string | null,
): Promise<ExitCode> {
  const { io, line, launch } = context;
  const { options } = line;
  const { workspace, sessions, store } = chat;
  const loaded = workspace.loaded();
  const { display } = loaded.config;
  if (display.interface === "tui") {
    io.note("hermes: the full-screen interface is not part of this build; this is the plain one.");
  }
  const wantsOld = options["resume"] !== undefined || options["continue"] !== undefined;
  const chosen = wantsOld ? await chooseSession(choiceDeps(chat), options, "cli") : null;
  // Without a usable model there is nothing to talk to: said now, not after the first message.
  if (chosen === null) nameOfModel(chat, options, null);
  const modelName = (session: SessionRow | null): string => nameOfModel(chat, options, session);
  const { Lexer } = await import("marked");
  const shell = openShellRunner(context, chat);
  const code = await runRepl({
    io,
    sessions,
    store,
    history: openHistory(join(loaded.home, "cache", "cli_history"), (text) =>
      workspace.redactor.text(text),
    ),
    screen: {
      toolProgress: flagOption(options, "verbose") ? "verbose" : display.tool_progress,
      showReasoning: display.show_reasoning,
    },
    textFilter: new MarkdownStream(display.final_response_markdown, io.paint, Lexer),
    busyMode: display.busy_input_mode,
    recap: display.resume_display,
    profile: loaded.profile,
    home: loaded.home,
    yolo: flagOption(options, "yolo"),
    banner: banner(launch.project, safeName(modelName, chosen?.session ?? null), loaded.profile),
    session: chosen?.session ?? null,
    firstMessage,
    startSession: (title) =>
      sessions.start({
        source: textOption(options, "source") ?? "cli",
        cwd: process.cwd(),
        ...(title === undefined ? {} : { title }),
      }),
    modelName,
    toolNames: () => toolNames(context, workspace, store),
    memoryText: () => memoryText(workspace.loaded()),
    runShell: (command, host) => shell.run(command, host),
    redact: (text) => workspace.redactor.text(text),
  });
  await shell.close();
  return code;
}

function banner(project: string, model: string, profile: string): readonly string[] {
  const { version } = readVersion(project);
  return [
    `Hermes ${version} · ${model} · profile ${profile}`,
    "/help lists the commands · Ctrl-C interrupts · Ctrl-D leaves",
  ];
}

function safeName(
  name: (session: SessionRow | null) => string,
  session: SessionRow | null,
): string {
  try {
    return name(session);
  } catch (error) {
    return messageOf(error);
  }
}

/** `provider:model`; the demo model is labelled. Throws MODEL_NOT_CONFIGURED and kin. */
function nameOfModel(chat: OpenChat, options: OptionValues, session: SessionRow | null): string {
  const provider = session?.modelConfig["provider"];
  if (session !== null && session.model !== null && typeof provider === "string") {
    return label(provider, session.model, provider === "demo");
  }
  const { config, env } = chat.workspace.loaded();
  const choice = chooseModel(config, (name) => env.get(name), {
    provider: textOption(options, "provider"),
    model: textOption(options, "model"),
  });
  return label(choice.provider, choice.model, choice.demo);
}

function label(provider: string, model: string, demo: boolean): string {
  return demo ? "DEMO (not an AI)" : `${provider}:${model}`;
}
