// Which conversation a run goes on with, or that it starts one (agent.md §6.6).
import { statSync } from "node:fs";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { HermesError } from "#base/errors.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { SessionService } from "#session/types.ts";
import type { OptionValues } from "../command-line.ts";
import { flagOption, textOption } from "../context.ts";
import type { OpenChat } from "./open-chat.ts";

interface ChoiceDeps {
  readonly sessions: SessionService;
  readonly store: Pick<SessionStore, "updateSession">;
  /** `sessions.max_resume_messages`. */
  readonly maxResumeMessages: number;
}

interface ChosenSession {
  readonly session: SessionRow;
  readonly resumed: boolean;
}

/** Finds or starts the session that the options ask for, and enters its directory. */
export async function chooseSession(
  deps: ChoiceDeps,
  options: OptionValues,
  source: string,
): Promise<ChosenSession> {
  const found = await findSession(deps, options);
  if (found) return { session: await resume(deps, found, options), resumed: true };
  const title = textOption(options, "continue");
  const session = await deps.sessions.start({
    source: textOption(options, "source") ?? source,
    cwd: process.cwd(),
    ...(title === undefined ? {} : { title }),
  });
  return { session, resumed: false };
}

/** The session that the options name; null when they name none. */
export async function chooseOldSession(
  chat: OpenChat,
  options: OptionValues,
  source: string,
): Promise<SessionRow | null> {
  if (options["resume"] === undefined && options["continue"] === undefined) return null;
  return (await chooseSession(choiceDeps(chat), options, source)).session;
}

export function choiceDeps(chat: OpenChat): ChoiceDeps {
  return {
    sessions: chat.sessions,
    store: chat.store,
    maxResumeMessages: chat.workspace.loaded().config.sessions.max_resume_messages,
  };
}

async function findSession(deps: ChoiceDeps, options: OptionValues): Promise<SessionRow | null> {
  const reference = textOption(options, "resume");
  if (reference !== undefined) return deps.sessions.resolve(reference);
  const wanted = options["continue"];
  if (wanted === undefined) return null;
  const title = typeof wanted === "string" && wanted !== "" ? wanted : undefined;
  const found = await deps.sessions.latest({
    cwd: process.cwd(),
    ...(title === undefined ? {} : { title }),
  });
  if (found) return found;
  if (title !== undefined && flagOption(options, "createIfMissing")) return null;
  throw title === undefined
    ? new HermesError("SESSION_NOT_FOUND", "There is no session to continue.")
    : new HermesError("SESSION_NOT_FOUND", `No session has the title "${title}".`, {
        fix: "List them: hermes sessions list. Start it: add --create-if-missing.",
      });
}

async function resume(
  deps: ChoiceDeps,
  session: SessionRow,
  options: OptionValues,
): Promise<SessionRow> {
  if (session.messageCount > deps.maxResumeMessages) {
    throw new HermesError(
      "SESSION_TOO_LONG",
      `Session ${session.id} has ${session.messageCount} messages, more than sessions.max_resume_messages (${deps.maxResumeMessages}).`,
      {
        fix: `Raise that setting and use /compress, or keep it: hermes sessions export ${session.id}`,
      },
    );
  }
  if (options["restoreCwd"] === false) {
    return deps.store.updateSession(session.id, { cwd: process.cwd() });
  }
  if (session.cwd !== null && isDirectory(session.cwd)) process.chdir(session.cwd);
  return session;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
