// Everything that a conversation in this process needs, opened once and closed in reverse.
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { SessionService } from "#session/types.ts";
import { openSessions, openWorkspace, openWorkspaceStore, type Workspace } from "../compose.ts";
import type { Context } from "../context.ts";
import { configFlags, runOverrides } from "../run-flags.ts";

export interface OpenChat {
  readonly workspace: Workspace;
  readonly store: SessionStore;
  readonly sessions: SessionService;
  /** The service is closed first by whoever knows why it ends; a second close does nothing. */
  close(): Promise<void>;
}

export function openChatWorkspace({ launch, line }: Context): Promise<Workspace> {
  const flags = configFlags(line.options);
  return openWorkspace(launch, { flags, component: "cli", file: "agent" });
}

/** `opened`: the workspace, where somebody had to look into the configuration first; it is closed with the rest. */
export async function openChat(context: Context, opened?: Workspace): Promise<OpenChat> {
  const { line } = context;
  const workspace = opened ?? (await openChatWorkspace(context));
  const closers = [() => workspace.close()];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };
  try {
    const store = await openWorkspaceStore(workspace);
    closers.push(() => store.close());
    const sessions = await openSessions(workspace, store, runOverrides(line.options));
    closers.push(() => sessions.close("shutdown"));
    return { workspace, store, sessions, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Of the configuration, one line each; a broken file is named at each start (agent.md §2.3). */
export function configWarnings({ workspace }: OpenChat): readonly string[] {
  const { problems, file, path } = workspace.loaded();
  if (file.state === "broken" && problems.length === 0) {
    return [`${path} is broken; its last good copy is in use.`];
  }
  return problems.map((problem) => workspace.redactor.text(problem.message));
}
