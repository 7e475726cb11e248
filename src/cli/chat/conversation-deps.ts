// What a conversation at this terminal is made of, for either face.
import { join } from "node:path";
import { messageOf } from "#base/errors.ts";
import { chooseModel } from "#model/choose.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { OptionValues } from "../command-line.ts";
import { flagOption, textOption, type Context } from "../context.ts";
import { memoryText } from "../memory-text.ts";
import type { ConversationDeps } from "./conversation.ts";
import { openHistory } from "./history.ts";
import { toolNames } from "./list-tools.ts";
import { MarkdownStream } from "./markdown-stream.ts";
import type { OpenChat } from "./open-chat.ts";
import type { ScreenOptions, TextFilter } from "./screen.ts";
import { openShellRunner } from "./shell-command.ts";

export interface OpenConversation {
  readonly deps: ConversationDeps;
  readonly screen: ScreenOptions;
  readonly textFilter: TextFilter;
  /** Ends what its shell commands left running. */
  close(): Promise<void>;
}

export async function openConversation(
  context: Context,
  chat: OpenChat,
  surface: "cli" | "tui",
): Promise<OpenConversation> {
  const { io, line } = context;
  const { options } = line;
  const { workspace, sessions, store } = chat;
  const loaded = workspace.loaded();
  const { display } = loaded.config;
  const redact = (text: string): string => workspace.redactor.text(text);
  const { Lexer } = await import("marked");
  const shell = openShellRunner(context, chat);
  return {
    deps: {
      sessions,
      store,
      history: openHistory(join(loaded.home, "cache", "cli_history"), redact),
      busyMode: display.busy_input_mode,
      recap: display.resume_display,
      profile: loaded.profile,
      home: loaded.home,
      yolo: flagOption(options, "yolo"),
      startSession: (title) =>
        sessions.start({
          source: textOption(options, "source") ?? surface,
          cwd: process.cwd(),
          ...(title === undefined ? {} : { title }),
        }),
      modelName: (session) => labelOf(modelOf(chat, options, session)),
      toolNames: () => toolNames(context, workspace, store),
      memoryText: () => memoryText(workspace.loaded()),
      runShell: (command, host) => shell.run(command, host),
      redact,
    },
    screen: {
      toolProgress: flagOption(options, "verbose") ? "verbose" : display.tool_progress,
      showReasoning: display.show_reasoning,
    },
    textFilter: new MarkdownStream(display.final_response_markdown, io.paint, Lexer),
    close: () => shell.close(),
  };
}

export interface ModelName {
  readonly provider: string;
  readonly model: string;
  readonly isDemo: boolean;
}

/** Of the session, or of the next one. Throws MODEL_NOT_CONFIGURED and kin. */
export function modelOf(
  chat: OpenChat,
  options: OptionValues,
  session: SessionRow | null,
): ModelName {
  const provider = session?.modelConfig["provider"];
  if (session !== null && session.model !== null && typeof provider === "string") {
    return { provider, model: session.model, isDemo: provider === "demo" };
  }
  const { config, env } = chat.workspace.loaded();
  const choice = chooseModel(config, (name) => env.get(name), {
    provider: textOption(options, "provider"),
    model: textOption(options, "model"),
  });
  return { provider: choice.provider, model: choice.model, isDemo: choice.demo };
}

/** `provider:model`; the demo model is labelled. */
function labelOf({ provider, model, isDemo }: ModelName): string {
  return isDemo ? "DEMO (not an AI)" : `${provider}:${model}`;
}

/** As `modelName`, for a banner: what is wrong with the model takes its place. */
export function safeModelName(
  deps: Pick<ConversationDeps, "modelName">,
  session: SessionRow | null,
): string {
  try {
    return deps.modelName(session);
  } catch (error) {
    return messageOf(error);
  }
}
