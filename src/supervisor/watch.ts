// A copy of the state of all services, refreshed in the background each second and after own actions: requests read it and ask
// nobody (container.md §8, product.md D13).
import type { Clock, Timer } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import type { ServiceManager } from "./port.ts";
import { type ObservedFile, readObserved } from "./service-files.ts";
import { type JudgeDeps, profileHome, readServices } from "./services.ts";

export interface ServiceWatch {
  /** As of the last refresh. */
  services(): readonly ServiceBody[];
  /** What the gateway of a profile last wrote of itself: a hint unless its service says that it runs. */
  observed(profile: string): ObservedFile | null;
  /** Epoch milliseconds of that refresh; 0 before the first. */
  asOf(): number;
  refresh(): Promise<void>;
  close(): void;
}

const EVERY_MS = 1000;

export function watchServices(
  manager: ServiceManager,
  deps: JudgeDeps & { readonly clock: Clock; readonly log: Log },
): ServiceWatch {
  let copy: readonly ServiceBody[] = [];
  let observed: ReadonlyMap<string, ObservedFile | null> = new Map();
  let readAt = 0;
  let running: Promise<void> | null = null;
  let timer: Timer | null = null;
  let isClosed = false;

  const read = async (): Promise<void> => {
    try {
      copy = await readServices(manager, deps);
      const profiles = copy.flatMap(({ profile }) => (profile === null ? [] : [profile]));
      observed = new Map(
        profiles.map((name) => [name, readObserved(profileHome(deps.root, name))]),
      );
      readAt = deps.clock.now();
    } catch (error) {
      deps.log.warn("the services cannot be asked", { reason: messageOf(error) });
    }
  };
  const refresh = (): Promise<void> =>
    (running ??= read().finally(() => {
      running = null;
    }));
  const tick = (): void => {
    if (isClosed) return;
    void refresh().finally(() => {
      if (!isClosed) timer = deps.clock.after(EVERY_MS, tick);
    });
  };
  tick();
  return {
    services: () => copy,
    observed: (profile) => observed.get(profile) ?? null,
    asOf: () => readAt,
    refresh,
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}
