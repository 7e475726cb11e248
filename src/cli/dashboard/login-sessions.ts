// `hermes dashboard sessions`, `rotate-secret`: logins seen and ended from the command line. The files are the interface: a
// running dashboard follows them within two seconds.
import { existsSync } from "node:fs";
import {
  openSessionFolder,
  sessionsFolder,
  type SessionFolder,
} from "#auth/sessions/session-folder.ts";
import { parseRecord } from "#auth/sessions/record-file.ts";
import { openSessionKey, rotateSessionKey, sessionKeyPath } from "#auth/sessions/session-key.ts";
import { type Session, sessionName } from "#auth/sessions/session.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { systemRandom } from "#base/ids.ts";
import { rootOf } from "#config/homes.ts";
import { usageError } from "../command-line.ts";
import { openConfigSource } from "../config-source.ts";
import type { Context } from "../context.ts";
import { localMinute } from "../session-lines.ts";

const ACTIONS = ["list", "revoke", "revoke-all"] as const;

export function loginSessions(context: Context): ExitCode {
  const [word = "", id] = context.line.operands;
  const action = ACTIONS.find((name) => name === word);
  const root = rootOf(context.launch.home);
  if (action !== "revoke" && id !== undefined) throw usageError(`"sessions ${word}" takes no ID.`);
  switch (action) {
    case "list":
      return list(context, root);
    case "revoke":
      return revoke(context, root, id);
    case "revoke-all":
      return revokeAll(context, root);
    case undefined:
      throw usageError(`There is no "sessions ${word}"; there are: ${ACTIONS.join(", ")}.`);
    default:
      return action satisfies never;
  }
}

function list({ launch, io }: Context, root: string): ExitCode {
  const sessions = readSessions(launch, root);
  if (io.json) io.object({ sessions: sessions.map(rowOf) });
  else if (sessions.length === 0) io.note("Nobody is signed in.");
  else for (const session of sessions) io.line(textOf(session));
  return EXIT.ok;
}

function revoke({ io }: Context, root: string, id: string | undefined): ExitCode {
  if (id === undefined || !/^[0-9a-f]{4,64}$/.test(id)) {
    throw usageError("sessions revoke needs an ID.", "List them: hermes dashboard sessions list");
  }
  const folder = folderOf(root);
  const found = folder?.names().filter((name) => name.startsWith(id)) ?? [];
  if (found.length !== 1) throw notOne(id, found);
  for (const name of found) folder?.remove(name);
  return ended(1, io);
}

function revokeAll({ io }: Context, root: string): ExitCode {
  return ended(removeAll(root), io);
}

/** `hermes dashboard rotate-secret` */
export function rotateSecret({ launch, io }: Context): ExitCode {
  const root = rootOf(launch.home);
  if (configuredSecret(launch, root) !== null) {
    throw new HermesError(
      "SECRET_CONFIGURED",
      "The session secret comes from the settings (dashboard.session.secret or dashboard.basic_auth.secret), so there is no key file to replace.",
      { setting: "dashboard.session.secret", fix: "Change it there and restart the dashboard." },
    );
  }
  rotateSessionKey(root, systemRandom);
  return ended(removeAll(root), io);
}

function ended(count: number, io: Context["io"]): ExitCode {
  if (io.json) io.object({ ended: count });
  else io.line(count === 1 ? "One session ended." : `${count} sessions ended.`);
  return EXIT.ok;
}

/** null: nobody ever signed in here. */
function folderOf(root: string): SessionFolder | null {
  const path = sessionsFolder(root);
  return existsSync(path) ? openSessionFolder(path) : null;
}

function removeAll(root: string): number {
  const folder = folderOf(root);
  const names = folder?.names() ?? [];
  for (const name of names) folder?.remove(name);
  return names.length;
}

function readSessions(launch: Context["launch"], root: string): readonly Session[] {
  const folder = folderOf(root);
  const configured = configuredSecret(launch, root);
  if (!folder || (configured === null && !existsSync(sessionKeyPath(root)))) return [];
  const key = openSessionKey(root, configured, systemRandom);
  const read = folder.names().flatMap((name) => {
    const found = folder.read(name);
    return found.state === "text" ? (parseRecord(found.text, name, key)?.session ?? []) : [];
  });
  return read.sort((a, b) => b.lastSeenAt - a.lastSeenAt);
}

function configuredSecret(launch: Context["launch"], root: string): string | null {
  const { dashboard } = openConfigSource({ ...launch, home: root }).loaded().config;
  return dashboard.session.secret || dashboard.basic_auth.secret || null;
}

function rowOf(session: Session): Readonly<Record<string, unknown>> {
  return {
    id: sessionName(session),
    kind: session.kind,
    provider: session.provider,
    user_id: session.identity.userId,
    email: session.identity.email,
    created_at: isoTime(session.createdAt),
    last_seen_at: isoTime(session.lastSeenAt),
    expires_at: isoTime(Math.min(session.absoluteEnd, session.idleEnd)),
    ip: session.ip,
    user_agent: session.userAgent,
  };
}

function textOf(session: Session): string {
  const { identity, provider, ip, lastSeenAt } = session;
  const who = identity.email || identity.displayName || identity.userId;
  return [sessionName(session), who, provider, ip, localMinute(lastSeenAt)].join("  ");
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function notOne(id: string, found: readonly string[]): HermesError {
  const fix = "List them: hermes dashboard sessions list";
  return found.length === 0
    ? new HermesError("SESSION_NOT_FOUND", `Nobody is signed in under "${id}".`, { fix })
    : new HermesError("SESSION_AMBIGUOUS", `"${id}" fits ${found.length} sessions.`, {
        fix,
        data: { candidates: found.map((name) => name.slice(0, 16)) },
      });
}
