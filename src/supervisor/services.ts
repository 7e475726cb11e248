// From facts to the one JSON shape of a service (container.md §8), for every surface.
import { accessSync, constants } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { errnoOf } from "#base/errors.ts";
import { processStartTime } from "#base/process-identity.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { findProfiles } from "#profile/find.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { isDashboardHeld, readDashboard } from "./dashboard-process.ts";
import type { ServiceManager, SlotFacts } from "./port.ts";
import {
  DESIRED_FILE,
  type DesiredRecord,
  type ObservedFile,
  readDesired,
  readObject,
  readObserved,
  type Warn,
} from "./service-files.ts";
import { slotName } from "./slot-name.ts";
import { unitLog } from "./systemd/facts.ts";
import {
  allDeaths,
  nextStartAt,
  recentDeaths,
  serviceState,
  unsupervisedState,
  type LockFacts,
} from "./state.ts";

export const GATEWAY_LOCK = "gateway.lock";

export interface JudgeDeps {
  /** Root home; used for slots whose spec cannot be read. */
  readonly root: string;
  readonly lock: ProcessLock;
  readonly warn?: Warn;
  /** Cached answer of GATEWAY_HEALTH_URL. */
  readonly remote?: () => "up" | "down" | null;
}

/** Reads the files of the slot's home, no supervisor. Never throws. */
export function judgeSlot(deps: JudgeDeps, facts: SlotFacts): ServiceBody {
  const home = facts.spec?.home ?? profileHome(deps.root, facts.profile);
  const now = Date.now();
  const isGateway = facts.kind === "gateway";
  const desired = isGateway ? gatewayDesired(deps, home, facts) : slotDesired(facts);
  const observed = isGateway ? readObserved(home, deps.warn) : null;
  const lock = isGateway && !facts.up ? readLock(home, deps.lock) : null;
  const input = {
    facts,
    desired,
    observed,
    observedIsValid: isOf(observed, facts.pid),
    lock,
    remote: deps.remote?.() ?? null,
    now,
  };
  const isForeground = isGateway && !facts.up && !facts.wantedUp && lock?.holder === "foreign";
  const verdict = serviceState(input);
  // A gateway that runs here outside its slot (`--no-supervise`) is judged by its own record.
  if (isForeground && verdict.state === "unknown") {
    return { ...unsupervisedService(deps, facts.profile, home), name: facts.slot };
  }
  const { state, reason } = verdict;
  const last = facts.deaths.at(-1) ?? null;
  const next = nextStartAt(input);
  return {
    name: facts.slot,
    kind: facts.kind,
    profile: isGateway ? facts.profile : null,
    state,
    reason,
    desired: desired?.desired ?? null,
    pid: facts.up ? facts.pid : null,
    since: isoOrNull(facts.ready ? facts.readyAt : facts.changedAt),
    restarts: allDeaths(facts),
    restarts_60s: recentDeaths(facts, now),
    last_exit:
      last === null
        ? null
        : { code: last.code, signal: last.signal, at: new Date(last.at).toISOString() },
    next_start_at: isoOrNull(next),
    error:
      state === "refused" && facts.lastError !== null
        ? {
            code: facts.lastError.code,
            message: facts.lastError.message,
            ways_out: facts.lastError.ways_out,
          }
        : null,
    log: join(logDirectory(deps.root, facts), "current"),
  };
}

/** `$HOME0/logs/dashboard`, `$HOME0/logs/gateways/<profile>` (container.md §6.5). */
export function logDirectory(
  root: string,
  { kind, profile }: Pick<SlotFacts, "kind" | "profile">,
): string {
  return kind === "dashboard"
    ? join(root, "logs", "dashboard")
    : join(root, "logs", "gateways", profile);
}

/** As judgeSlot, of a unit of systemd: it counts restarts, remembers one death, and logs where the process itself does. */
export function judgeUnit(deps: JudgeDeps, facts: SlotFacts): ServiceBody {
  const body = judgeSlot(deps, facts);
  const home = profileHome(deps.root, facts.profile);
  return {
    ...body,
    restarts: Math.max(facts.backoff?.n ?? 0, body.restarts),
    log: unitLog(facts, deps.root, home),
  };
}

/**
 * Every service of this root by the one judge: each slot or unit of the manager, each gateway that nothing supervises, and
 * a dashboard that runs by itself. A service that cannot be asked is told as unknown, never left out.
 */
export async function readServices(
  manager: ServiceManager,
  deps: JudgeDeps,
): Promise<readonly ServiceBody[]> {
  const judge = manager.kind === "systemd" ? judgeUnit : judgeSlot;
  const slots = await manager.list();
  const bodies = await Promise.all(
    slots.map(async (slot) => judge(deps, await manager.facts(slot))),
  );
  const gateways = manager.canRegister
    ? bodies.filter(({ kind }) => kind === "gateway")
    : unsupervisedServices(deps).map((body) => bodies.find(isNamed(body.name)) ?? body);
  const own = bodies.find(isNamed("dashboard"));
  // The container's command is the dashboard, or somebody runs one in a terminal.
  const isOutside = own?.pid == null && isDashboardHeld(deps.root, deps.lock);
  const dashboard = (isOutside ? await outsideDashboard(deps) : null) ?? own;
  return [...(dashboard === undefined ? [] : [dashboard]), ...gateways];
}

const isNamed =
  (name: string) =>
  (body: ServiceBody): boolean =>
    body.name === name;

/** null: none runs outside a slot. */
async function outsideDashboard(deps: JudgeDeps): Promise<ServiceBody | null> {
  const { state, record, reason } = await readDashboard(deps.root, deps.lock);
  if (state === "stopped") return null;
  return {
    name: "dashboard",
    kind: "dashboard",
    profile: null,
    state,
    reason,
    desired: null,
    pid: record?.pid ?? null,
    since: null,
    restarts: 0,
    restarts_60s: 0,
    last_exit: null,
    next_start_at: null,
    error: null,
    log: join(deps.root, "logs", "gui.log"),
  };
}

/** Where nothing supervises slots: every gateway of this root by its lock and its record. */
export function unsupervisedServices(deps: JudgeDeps): readonly ServiceBody[] {
  return findProfiles(deps.root).profiles.map(({ name, home }) =>
    unsupervisedService(deps, name, home),
  );
}

export function unsupervisedService(deps: JudgeDeps, profile: string, home: string): ServiceBody {
  const desired = readDesired(home, deps.warn);
  const observed = readObserved(home, deps.warn);
  const lock = readLock(home, deps.lock);
  const { state, reason } = unsupervisedState({
    desired,
    observed,
    observedIsValid: lock.held && isOf(observed, observed?.pid ?? null),
    lock,
    remote: deps.remote?.() ?? null,
    now: Date.now(),
  });
  const isSeen = lock.held && lock.holder === "foreign";
  return {
    name: slotName({ kind: "gateway", profile }),
    kind: "gateway",
    profile,
    state,
    reason,
    desired: desired?.desired ?? null,
    pid: isSeen ? (observed?.pid ?? null) : null,
    since: isoOrNull(isSeen ? (observed?.updatedAt ?? null) : null),
    restarts: 0,
    restarts_60s: 0,
    last_exit: null,
    next_start_at: null,
    error: null,
    log: join(home, "logs", "gateway.log"),
  };
}

/** In a home that this user may not read, the slot itself still tells what was last asked (container.md §6.1). */
function gatewayDesired(deps: JudgeDeps, home: string, facts: SlotFacts): DesiredRecord | null {
  const isClosed = isForbidden(join(home, DESIRED_FILE));
  return readDesired(home, deps.warn) ?? (isClosed ? slotDesired(facts) : null);
}

/** The wish for the dashboard is its variable and its `down` file (D6): nothing is stored. */
function slotDesired(facts: SlotFacts): DesiredRecord | null {
  if (!facts.supervised) return null;
  const desired = facts.normallyUp ? "running" : "stopped";
  return { desired, at: null, by: null, source: null };
}

export function profileHome(root: string, profile: string): string {
  return profile === "default" ? root : join(root, "profiles", profile);
}

function isOf(observed: ObservedFile | null, pid: number | null): boolean {
  if (observed === null || pid === null || observed.pid !== pid) return false;
  return observed.startTime !== null && processStartTime(pid) === observed.startTime;
}

/** Who holds the home, asked from the lock; the record beside it only names the holder. */
export function readLock(home: string, lock: ProcessLock): LockFacts {
  const path = join(home, GATEWAY_LOCK);
  if (isForbidden(path)) return { held: true, holder: "unreadable", holderName: null };
  if (!lock.isHeld(path)) return { held: false, holder: null, holderName: null };
  const fields = readObject(join(home, "gateway.pid"));
  const { pid, start_time: startTime, host } = fields ?? {};
  if (typeof pid !== "number" || typeof startTime !== "string" || typeof host !== "string") {
    return { held: true, holder: "unseen", holderName: null };
  }
  const isSeen = host === hostname() && processStartTime(pid) === startTime;
  return { held: true, holder: isSeen ? "foreign" : "unseen", holderName: `pid ${pid} on ${host}` };
}

/** A lock that this user may not read can be anybody's: not free, as one that is missing. */
function isForbidden(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return ["EACCES", "EPERM"].includes(errnoOf(error) ?? "");
  }
}

const isoOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();
