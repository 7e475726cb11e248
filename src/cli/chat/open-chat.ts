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

export async function openChat(context: Context): Promise<OpenChat> {
  const { launch, line } = context;
  const workspace = await openWorkspace(launch, {
    flags: configFlags(line.options),
    component: "cli",
    file: "agent",
  });
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
