// The order of start and of stop (dashboard.md §1.3, §1.5): nothing says "running" before a real request was answered.
import type { Server } from "node:http";
import { hostInUrl } from "#auth/addresses.ts";
import { gateRequired, providerBullets } from "#auth/refusal.ts";
import type { ProviderReport } from "#auth/providers/registry.ts";
import { whyGate } from "#auth/require-auth.ts";
import { errnoOf, HermesError, messageOf } from "#base/errors.ts";
import { assemble, type Assembly } from "./assemble.ts";
import { sweepAttachments } from "./attachments.ts";
import type { DashboardDeps, RunningDashboard } from "./deps.ts";
import { type HomeLock, takeHomeLock } from "./home-lock.ts";
import { findPortHolder } from "./port-holder.ts";
import { bindAddress, probeSelf, reachableHost } from "./self-probe.ts";
import { isPortBusy, listen } from "./server.ts";

const ANSWERS_IN_FLIGHT_MS = 2000;

/**
 * Brings the dashboard up and returns when it answered its own request. Throws HermesError: exit 78 for a refusal
 * (`GATE_REQUIRED`, `DASHBOARD_RUNNING`), exit 1 for a busy port (`PORT_BUSY`), an address that cannot be bound
 * (`BIND_FAILED`) or a failed self-probe (`NOT_ANSWERING`).
 */
export async function startDashboard(deps: DashboardDeps): Promise<RunningDashboard> {
  refuseWithoutProvider(deps);
  const lock = takeHomeLock(deps.home, deps.lock);
  const closers: (() => void)[] = [() => lock.release()];
  try {
    const assembly = assemble(deps);
    closers.unshift(() => {
      assembly.closeStreams();
      void assembly.closeTerminals();
      void assembly.closeAuth();
    });
    const port = await bind(assembly.server, deps);
    closers.unshift(() => void assembly.server.close());
    assembly.snapshot.glance();
    await probeSelf(deps.settings.host, port);
    const url = `http://${hostInUrl(reachableHost(deps.settings.host))}:${port}`;
    await announce(deps, lock, url);
    sweepAttachments({ home: assembly.snapshot.home(), clock: deps.clock });
    return { url, port, counts: assembly.counts, stop: createStop(deps, assembly, lock) };
  } catch (error) {
    for (const close of closers) close();
    throw error;
  }
}

/** Before anything is locked, read or bound: with the gate on and nobody who could pass it, there is no start. */
function refuseWithoutProvider({ settings, warn, providers, log }: DashboardDeps): void {
  const { host, port, publicUrl, insecure } = settings;
  const why = whyGate(settings);
  const ready = providers.loginProviders().map(({ name }) => name);
  if (why !== null && ready.length === 0) {
    throw gateRequired({ host, port, why, publicUrl, providers: providerBullets(providers) });
  }
  if (why !== null) {
    log.info("login gate is on", { host, providers: ready.join(", ") });
    warn(
      `hermes: the login gate is on (bound to ${host}); people sign in with ${ready.join(", ")}.`,
    );
  }
  for (const line of providers.reports().flatMap(complaints)) warn(line);
  if (!insecure) return;
  const reach = publicUrl ? ` and as ${publicUrl.href}` : "";
  warn(
    `WARNING: the dashboard runs without a login on ${host}${reach}: everyone who can reach port ${port} controls this agent.`,
  );
}

/** What would work only half is said at each start. */
function complaints({ name, status, reason, warnings }: ProviderReport): readonly string[] {
  const lines = warnings.map((text) => `hermes: login provider ${name}: ${text}`);
  return status === "invalid"
    ? [`hermes: login provider ${name}: ${reason ?? ""}`, ...lines]
    : lines;
}

async function bind(server: Server, { settings }: DashboardDeps): Promise<number> {
  try {
    return await listen(server, bindAddress(settings.host), settings.port);
  } catch (error) {
    throw isPortBusy(error) ? portBusy(settings.port) : bindFailed(settings.host, error);
  }
}

function portBusy(port: number): HermesError {
  const holder = findPortHolder(port);
  const who = holder ? `pid ${holder.pid} (${holder.command})` : "another program";
  return new HermesError("PORT_BUSY", `Port ${port} is in use by ${who}.`, {
    setting: "HERMES_DASHBOARD_PORT",
    fix: "Stop that program, or choose another port with --port.",
    data: { port, ...(holder ? { pid: holder.pid } : {}) },
  });
}

function bindFailed(host: string, error: unknown): HermesError {
  const why = errnoOf(error) ?? messageOf(error);
  return new HermesError("BIND_FAILED", `The dashboard cannot listen on ${host}: ${why}.`, {
    setting: "HERMES_DASHBOARD_HOST",
    fix: "Give an address of this machine, such as 127.0.0.1.",
  });
}

async function announce(deps: DashboardDeps, lock: HomeLock, url: string): Promise<void> {
  lock.record(url);
  await deps.whenReady();
  const { publicUrl } = deps.settings;
  deps.log.info("dashboard answers", { url });
  deps.print(`Hermes Web UI → ${url}${publicUrl ? ` (public: ${publicUrl.href})` : ""}`);
  deps.openBrowser?.(url);
}

/** Streams end at once, turns are marked interrupted, answers in flight get 2 s. */
function createStop(deps: DashboardDeps, assembly: Assembly, lock: HomeLock): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    const { server } = assembly;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    assembly.closeStreams();
    const terminals = assembly.closeTerminals();
    server.closeIdleConnections();
    const turns = deps.profiles.opened().map(({ sessions }) => sessions.close("shutdown"));
    const timer = setTimeout(() => server.closeAllConnections(), ANSWERS_IN_FLIGHT_MS);
    await Promise.allSettled([closed, terminals, ...turns]);
    clearTimeout(timer);
    await assembly.closeAuth();
    lock.release();
  };
  return () => (stopped ??= stop());
}
