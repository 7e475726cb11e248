// The store of a gateway, and its conversations, which are opened at the first message (agent.md §7.1 step 5).
import { HermesError, isHermesError, messageOf } from "#base/errors.ts";
import type { SessionService } from "#session/types.ts";
import { within } from "./within.ts";
import type { GatewayDeps, GatewayStore } from "./deps.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Conversations } from "./platform.ts";

const OPEN_LIMIT_MS = 60_000;

export interface Storage {
  /** Set when the store is damaged: there are no turns. */
  readonly damage: HermesError | null;
  readonly deliveries: Deliveries;
  conversations(): Promise<Conversations>;
  /** Turns are aborted and saved first. */
  close(): Promise<void>;
}

/** Throws what keeps the store from being opened; a damaged one is no such thing: the gateway then serves degraded. */
export async function openStorage(
  deps: Pick<GatewayDeps, "openStore" | "clock" | "log">,
): Promise<Storage> {
  try {
    const store = await within(deps.clock, OPEN_LIMIT_MS, deps.openStore(), () => tooSlow());
    const lost = await store.recover();
    if (lost > 0) deps.log.warn("turns were lost when the last gateway died", { turns: lost });
    return usable(store);
  } catch (error) {
    if (!isHermesError(error, "STORE_CORRUPT")) throw error;
    deps.log.error("the store is damaged: no turn runs", { reason: messageOf(error) });
    return damaged(error);
  }
}

function usable(store: GatewayStore): Storage {
  let opening: Promise<SessionService> | null = null;
  return {
    damage: null,
    deliveries: store.deliveries,
    async conversations() {
      opening ??= store.openSessions();
      return { sessions: await opening, archive: store.archive };
    },
    async close() {
      const sessions = await opening?.catch(() => null);
      await sessions?.close("shutdown");
      await store.close();
    },
  };
}

function damaged(damage: HermesError): Storage {
  return {
    damage,
    deliveries: { isNew: () => Promise.reject(damage), forget: () => Promise.reject(damage) },
    conversations: () => Promise.reject(damage),
    close: () => Promise.resolve(),
  };
}

function tooSlow(): HermesError {
  return new HermesError(
    "STORE_TIMEOUT",
    `The store was not open after ${OPEN_LIMIT_MS / 1000} s.`,
    {
      fix: 'Look at the disk, then at "hermes sessions check".',
    },
  );
}
