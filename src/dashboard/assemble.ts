// The parts of the dashboard put together, without a socket: gate, front, routes, streams.
import { join } from "node:path";
import type { Server } from "node:http";
import { createAudit } from "#auth/audit.ts";
import { createLimiter } from "#auth/limiter.ts";
import { createLocalGate } from "#auth/local-gate.ts";
import { createLocalToken } from "#auth/local-token.ts";
import { createWsTickets } from "#auth/ws-tickets.ts";
import { randomHex } from "#base/ids.ts";
import { buildApp } from "./app.ts";
import { createChanges } from "./changes.ts";
import type { DashboardDeps } from "./deps.ts";
import { createFront } from "./front.ts";
import { registerAll } from "./routes/all.ts";
import type { RouteServices } from "./route-services.ts";
import { createRouteTable, type RouteTable } from "./routing.ts";
import { createHttpServer } from "./server.ts";
import { createSocketHub } from "./socket-hub.ts";
import { createSseServer } from "./sse.ts";
import { createStaticFiles } from "./static-files.ts";
import { createStatusSnapshot, type StatusSnapshot } from "./status-snapshot.ts";
import { createUpgrade } from "./upgrade.ts";

export interface Assembly {
  readonly server: Server;
  readonly table: RouteTable;
  readonly snapshot: StatusSnapshot;
  /** Ends every stream and socket; nothing new is accepted on /readyz. */
  closeStreams(): void;
  readonly counts: () => {
    readonly sockets: number;
    readonly streams: number;
    readonly watchers: number;
  };
}

/** Throws when the routes and the lists of open paths do not agree. */
export function assemble(deps: DashboardDeps): Assembly {
  const { settings, clock, log, random, redact } = deps;
  const token = createLocalToken(settings.sessionToken, random);
  const gate = createLocalGate(token);
  const tickets = createWsTickets(clock, random);
  const failures = createLimiter({ most: 30, windowMs: 60_000 }, clock);
  const audit = createAudit({
    path: join(deps.home, "logs", "dashboard-auth.log"),
    maxBytes: deps.auditLog.maxBytes,
    backups: deps.auditLog.backups,
    clock,
    log,
  });
  const changes = createChanges(clock, () => deps.profiles.opened());
  const sse = createSseServer(clock);
  const snapshot = createStatusSnapshot(deps, deps.home);
  let running = true;
  const services: RouteServices = {
    deps,
    snapshot,
    changes,
    sse,
    tickets,
    audit,
    files: createStaticFiles(deps.webDist),
    pageToken: token.value,
    isRunning: () => running,
  };
  const hub = createSocketHub({
    profiles: deps.profiles,
    changes,
    clock,
    log,
    serverId: randomHex(16, random),
    version: deps.version,
  });
  const table = createRouteTable();
  registerAll(table.registrars, services);
  table.registrars.socket("/api/ws", (socket) => hub.open(socket));
  const { corsOrigins } = settings;
  const app = buildApp(table, { gate, clock, log, audit, failures, corsOrigins, redact });
  const { sockets } = table;
  const server = createHttpServer({
    front: createFront(settings, false, log),
    app,
    settings,
    upgrade: createUpgrade({ sockets, gate, tickets, settings, audit, failures, clock, log }),
  });
  return {
    server,
    table,
    snapshot,
    closeStreams() {
      running = false;
      hub.close();
      sse.close();
      changes.close();
      snapshot.close();
    },
    counts: () => ({ sockets: hub.size, streams: sse.size, watchers: changes.watchers }),
  };
}
