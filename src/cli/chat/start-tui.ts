// The door of `--tui`: the first frame at once, then configuration, store and model; the terminal given back at every end.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExitCode } from "#base/exit-codes.ts";
import { profileOf } from "#config/homes.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { Door, Face } from "#tui/port.ts";
import type * as TuiModule from "#tui/start.tsx";
import type { Workspace } from "../compose.ts";
import { textOption, type Context } from "../context.ts";
import { readVersion } from "../version.ts";
import type { OpenConversation } from "./conversation-deps.ts";
import { configWarnings, openChat, type OpenChat } from "./open-chat.ts";
import { exitOfEnd, listenForEnd } from "./run-end.ts";

export type Tui = Pick<typeof TuiModule, "startTui">;

/** The built interface, or null after saying why it is the plain one this time. */
export async function loadTui({ launch, io }: Context): Promise<Tui | null> {
  const file = join(launch.project, "dist", "tui.js");
  if (launch.env["TERM"] === "dumb") {
    io.note("hermes: this terminal is too plain for the full-screen interface (TERM=dumb).");
    return null;
  }
  if (!existsSync(file)) {
    io.note(
      'hermes: the full-screen interface is not built; this is the plain one ("npm run build" makes it).',
    );
    return null;
  }
  // From here on keys are ours: what is typed while the program loads is neither echoed nor waits for an Enter.
  io.stdin.setRawMode(true);
  return (await import(pathToFileURL(file).href)) as Tui;
}

export interface TuiStart {
  /** Where the configuration had to say that this interface is wanted. */
  readonly workspace: Workspace | undefined;
  readonly firstMessage: string | null;
}

export async function runTui(
  context: Context,
  { startTui }: Tui,
  start: TuiStart,
): Promise<ExitCode> {
  const { io, launch } = context;
  const opened: Opened = { chat: null, conversation: null };
  let connecting: Promise<Door> | null = null;
  const tui = startTui({
    stdin: io.stdin,
    stdout: io.stdout,
    version: readVersion(launch.project).version,
    profile: profileOf(launch.home),
    colours: !launch.env["NO_COLOR"],
    connect(face) {
      connecting = connect(context, start, face, opened);
      return connecting;
    },
  });
  const stopListening = listenForEnd(io, (end) =>
    end === "SIGINT" ? tui.interrupt() : tui.leave(exitOfEnd(end)),
  );
  try {
    return await tui.ended;
  } finally {
    stopListening();
    // Left before everything was open: nothing of it may stay.
    await (connecting as Promise<Door> | null)?.catch(() => undefined);
    await opened.conversation?.close();
    await opened.chat?.close();
  }
}

interface Opened {
  chat: OpenChat | null;
  conversation: OpenConversation | null;
}

async function connect(
  context: Context,
  { workspace, firstMessage }: TuiStart,
  screen: Face,
  opened: Opened,
): Promise<Door> {
  const chat = (opened.chat = await openChat(context, workspace));
  for (const text of configWarnings(chat)) {
    screen.update({ type: "line", tone: "yellow", text: `! ${text}` });
  }
  const [{ openConversation, modelOf }, { TuiFace }] = await Promise.all([
    import("./conversation-deps.ts"),
    import("./tui-face.ts"),
  ]);
  const { options } = context.line;
  const session = await sessionToOpen(context, chat);
  const conversation = (opened.conversation = await openConversation(context, chat, "tui"));
  const { deps, textFilter, screen: display } = conversation;
  // Without a usable model there is nothing to talk to: said now, not after the first message.
  if (session === null) deps.modelName(null);
  return new TuiFace(
    {
      ...deps,
      session,
      firstMessage,
      modelOf: (row) => modelOf(chat, options, row),
      settings: { ...display, textFilter, history: deps.history.entries },
    },
    screen,
  );
}

/** `-r` and `-c` win over HERMES_TUI_RESUME (agent.md §2.5). */
async function sessionToOpen(
  { line, launch }: Context,
  chat: OpenChat,
): Promise<SessionRow | null> {
  const { chooseOldSession } = await import("./session-choice.ts");
  const { options } = line;
  const isNamed = textOption(options, "resume") !== undefined || options["continue"] !== undefined;
  const named =
    launch.env["HERMES_TUI_RESUME"] || chat.workspace.loaded().env.get("HERMES_TUI_RESUME");
  const wanted = isNamed || !named ? options : { ...options, resume: named };
  return chooseOldSession(chat, wanted, "tui");
}
