// WS /api/pty: who may have a terminal, and how many there are (dashboard.md §9.2, §9.4).
import type { Clock } from "#base/clock.ts";
import { isHermesError, messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import { CLOSE } from "#protocol/socket.ts";
import type { ProfileDirectory } from "./deps.ts";
import { ownerOf } from "./owner.ts";
import type { TerminalHost } from "./pty-port.ts";
import { parsePtyQuery, type PtyQuery } from "./pty-query.ts";
import { PtyTerminal } from "./pty-terminal.ts";
import type { Socket } from "./routing.ts";
import { closeSocket } from "./upgrade.ts";

const MOST_TERMINALS = 16;
const MOST_PER_OWNER = 4;

export interface PtyHubDeps {
  readonly host: TerminalHost;
  readonly profiles: Pick<ProfileDirectory, "open">;
  readonly clock: Clock;
  readonly log: Log;
  /** `dashboard.pty` */
  readonly isOn: boolean;
}

export interface PtyHub {
  open(socket: Socket): void;
  /** The session of this owner is over: its terminals end, their sockets with 4401. */
  endOwner(owner: string): void;
  /** Close code 1001 to everybody; resolves when no program is left, within 3 s. */
  close(): Promise<void>;
  /** Terminals whose program, or something that it started, still runs. */
  readonly size: number;
}

export function createPtyHub(deps: PtyHubDeps): PtyHub {
  const { clock, host } = deps;
  const terminals = new Set<PtyTerminal>();

  function make(owner: string | null, key: string | null, query: PtyQuery): PtyTerminal {
    const onGone = (gone: PtyTerminal): void => void terminals.delete(gone);
    const terminal = new PtyTerminal({ owner, key, clock, host, onGone }, sizeOf(query));
    terminals.add(terminal);
    return terminal;
  }

  return {
    open({ ws, caller, query: params }) {
      const refuse = (code: number, reason: string): void => closeSocket(ws, clock, code, reason);
      if (!deps.isOn) {
        refuse(CLOSE.off, "the terminal is switched off: dashboard.pty, HERMES_DASHBOARD_TUI");
        return;
      }
      const reading = parsePtyQuery(params);
      if (!reading.ok) {
        refuse(CLOSE.badParameter, reading.problem);
        return;
      }
      const { query } = reading;
      const owner = ownerOf(caller);
      // Somebody else's name finds nothing: the owner is part of the key.
      const key = query.attach === null ? null : `${owner ?? ""} ${query.attach}`;
      const known = [...terminals].find(
        (other) => key !== null && other.key === key && other.isOpen,
      );
      const full = known ? null : whyFull(terminals, owner);
      if (full !== null) {
        refuse(CLOSE.tooMany, full);
        return;
      }
      const terminal = known ?? make(owner, key, query);
      terminal.show(ws, sizeOf(query));
      if (!known) void begin(terminal, query, deps);
    },
    endOwner(owner) {
      for (const terminal of terminals) {
        if (terminal.owner === owner) terminal.end(CLOSE.unauthorized, "session ended");
      }
    },
    async close() {
      for (const terminal of terminals) terminal.end(CLOSE.goingAway, "server stops");
      await host.close();
    },
    get size() {
      return terminals.size;
    },
  };
}

function sizeOf({ cols, rows }: PtyQuery): Pick<PtyQuery, "cols" | "rows"> {
  return { cols, rows };
}

/** In local mode there are no sessions to count by: every caller is the user of this machine. */
function whyFull(terminals: ReadonlySet<PtyTerminal>, owner: string | null): string | null {
  if (terminals.size >= MOST_TERMINALS) return `${MOST_TERMINALS} terminals are open`;
  const own = [...terminals].filter((other) => owner !== null && other.owner === owner).length;
  return own >= MOST_PER_OWNER ? `${MOST_PER_OWNER} terminals of this session are open` : null;
}

async function begin(terminal: PtyTerminal, query: PtyQuery, deps: PtyHubDeps): Promise<void> {
  try {
    const { name } = await deps.profiles.open(query.profile ?? undefined);
    terminal.start({ profile: name, resume: query.resume });
  } catch (error) {
    if (isHermesError(error, "PROFILE_UNKNOWN") || isHermesError(error, "PROFILE_NAME_INVALID")) {
      terminal.refuse(CLOSE.notFound, "no such profile", error.message);
      return;
    }
    deps.log.error(`a terminal did not start: ${messageOf(error)}`);
    terminal.refuse(CLOSE.internal, "cannot start", "The terminal cannot start: see the log.");
  }
}
