// Finding a session by what a person typed (agent.md §6.6).
import { EXIT } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { SessionRow } from "#protocol/messages.ts";

/** Id, unique prefix, exact title or `latest`, followed to the newest descendant. */
export async function findSession(store: SessionStore, ref: string): Promise<SessionRow> {
  const resolution = await store.resolveSession(ref);
  switch (resolution.found) {
    case "one":
      return (await store.newestDescendant(resolution.session.id)).session;
    case "many":
      throw new HermesError("SESSION_AMBIGUOUS", `"${ref}" fits several sessions`, {
        exit: EXIT.usage,
        fix: `one of: ${resolution.candidates.map((row) => row.id).join(", ")}`,
        data: {
          candidates: resolution.candidates.map((row) => ({ id: row.id, title: row.title })),
        },
      });
    case "none":
      throw new HermesError("SESSION_NOT_FOUND", `there is no session "${ref}"`, {
        fix: "hermes sessions list",
      });
  }
}

/** Newest visible session of this working directory, else newest of all; with a title, newest of its lineage. */
export async function newestVisible(
  store: SessionStore,
  options: { readonly cwd: string; readonly title?: string },
): Promise<SessionRow | null> {
  if (options.title !== undefined) {
    const resolution = await store.resolveSession(options.title);
    if (resolution.found !== "one") return null;
    return (await store.newestDescendant(resolution.session.id)).session;
  }
  const here = await store.listSessions({ cwd: options.cwd, limit: 1, offset: 0 });
  const row = here.sessions[0] ?? (await store.listSessions({ limit: 1, offset: 0 })).sessions[0];
  return row ? (await store.newestDescendant(row.id)).session : null;
}
