// Wires the plain line interface to what is open.
import type { ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";
import { readVersion } from "../version.ts";
import { openConversation, safeModelName } from "./conversation-deps.ts";
import type { OpenChat } from "./open-chat.ts";
import { runRepl } from "./repl.ts";
import { chooseOldSession } from "./session-choice.ts";

export async function startRepl(
  context: Context,
  chat: OpenChat,
  firstMessage: string | null,
): Promise<ExitCode> {
  const { io, line, launch } = context;
  const session = await chooseOldSession(chat, line.options, "cli");
  const conversation = await openConversation(context, chat, "cli");
  const { deps, screen, textFilter } = conversation;
  // Without a usable model there is nothing to talk to: said now, not after the first message.
  if (session === null) deps.modelName(null);
  const model = safeModelName(deps, session);
  const code = await runRepl({
    ...deps,
    io,
    screen,
    textFilter,
    banner: banner(launch.project, model, deps.profile),
    session,
    firstMessage,
  });
  await conversation.close();
  return code;
}

function banner(project: string, model: string, profile: string): readonly string[] {
  const { version } = readVersion(project);
  return [
    `Hermes ${version} · ${model} · profile ${profile}`,
    "/help lists the commands · Ctrl-C interrupts · Ctrl-D leaves",
  ];
}
