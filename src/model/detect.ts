// Local model servers found by themselves (agent.md §3.2). Asked only by `model`, `setup`, `doctor --live` and the first page.
import { lookup } from "node:dns/promises";
import type { Clock } from "#base/clock.ts";
import { localRoot, parseHttpUrl } from "./endpoint.ts";
import { fetchLocalModels } from "./local-servers.ts";
import { PROVIDERS, type LocalKind, type ProviderRow } from "./providers.ts";
import type { FoundServer } from "./refusals.ts";
import type { SecretReader } from "./settings.ts";

export type { FoundServer } from "./refusals.ts";

export interface DetectDeps {
  readonly secret: SecretReader;
  readonly clock: Clock;
  /** Also look on `host.docker.internal`, when that name resolves. */
  readonly inContainer: boolean;
  /** Addresses to ask instead of the table's; for tests. */
  readonly roots?: readonly { readonly kind: LocalKind; readonly root: string }[];
}

export interface LocalServerFinder {
  /** All servers at once, 300 ms each; one that was dead less than 30 s ago is not asked again unless `again`. Never throws. */
  find(options?: { readonly again?: boolean }): Promise<readonly FoundServer[]>;
}

const ASK_MS = 300;
const DEAD_MS = 30_000;

export function createLocalServerFinder(deps: DetectDeps): LocalServerFinder {
  /** Root → monotonic time until which it counts as dead. */
  const deadUntil = new Map<string, number>();
  async function ask(kind: LocalKind, root: string, again: boolean): Promise<FoundServer | null> {
    const now = deps.clock.monotonicMs();
    if (!again && (deadUntil.get(root) ?? 0) > now) return null;
    const models = await fetchLocalModels(kind, root, ASK_MS);
    if (models === null) deadUntil.set(root, now + DEAD_MS);
    else deadUntil.delete(root);
    return models === null ? null : { kind, base_url: `${root}/v1`, models };
  }
  return {
    async find(options = {}) {
      const places = deps.roots ?? (await placesToAsk(deps));
      const found = await Promise.all(
        places.map((place) => ask(place.kind, place.root, options.again ?? false)),
      );
      return found.filter((server) => server !== null);
    },
  };
}

async function placesToAsk(
  deps: DetectDeps,
): Promise<readonly { readonly kind: LocalKind; readonly root: string }[]> {
  const host =
    deps.inContainer && (await resolves("host.docker.internal")) ? "host.docker.internal" : null;
  return PROVIDERS.flatMap((row) =>
    row.local === null
      ? []
      : rootsOf(row, deps.secret, host).map((root) => ({ kind: row.local as LocalKind, root })),
  );
}

/** A variable names the one place to ask; a wrong one is asked nowhere else. */
function rootsOf(
  row: ProviderRow,
  secret: SecretReader,
  containerHost: string | null,
): readonly string[] {
  const named = row.baseURLEnv === null ? undefined : secret(row.baseURLEnv);
  if (named !== undefined) {
    const url = parseHttpUrl(named, new URL(row.baseURL).port);
    return url === null ? [] : [localRoot(`${url.origin}${url.pathname.replace(/\/+$/, "")}`)];
  }
  const here = row.baseURL;
  return containerHost === null ? [here] : [here, here.replace("127.0.0.1", containerHost)];
}

async function resolves(name: string): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ASK_MS);
  });
  try {
    return await Promise.race([lookup(name).then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
