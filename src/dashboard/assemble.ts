// The parts of the dashboard put together, without a socket: gate, front, routes, streams.
import type { Server } from "node:http";
import { randomHex } from "#base/ids.ts";
import { buildApp } from "./app.ts";
import { openAuthServices } from "./auth-services.ts";
import { createChanges } from "./changes.ts";
import type { DashboardDeps, OpenCounts } from "./deps.ts";
import { createFront } from "./front.ts";
import { createPtyHub } from "./pty-hub.ts";
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
  /** Ends every terminal; resolves within 3 s. */
  closeTerminals(): Promise<void>;
  /** After the last request: writes down what sessions still have in memory. */
  closeAuth(): Promise<void>;
  readonly counts: () => OpenCounts;
}

/** Throws when the routes and the lists of open paths do not agree. */
export function assemble(deps: DashboardDeps): Assembly {
  const { settings, clock, log, random, redact } = deps;
  const changes = createChanges(clock, () => deps.profiles.opened());
  const sse = createSseServer(clock);
  const snapshot = createStatusSnapshot(deps, deps.home);
  const auth = openAuthServices(deps, () => snapshot.theme());
  const { gate, audit, failures } = auth;
  let running = true;
  const services: RouteServices = {
    deps,
    snapshot,
    changes,
    sse,
    auth,
    files: createStaticFiles(deps.webDist),
    isRunning: () => running,
    counts: () => ({
      sockets: hub.size,
      streams: sse.size,
      watchers: changes.watchers,
      terminals: terminals.size,
    }),
  };
  const hub = createSocketHub({
    profiles: deps.profiles,
    changes,
    clock,
    log,
    serverId: randomHex(16, random),
    version: deps.version,
  });
  const terminals = createPtyHub({
    host: deps.terminals,
    profiles: deps.profiles,
    clock,
    log,
    isOn: settings.pty,
  });
  auth.onSessionEnd((owner) => {
    terminals.endOwner(owner);
    hub.endOwner(owner);
    sse.endOwner(owner);
  });
  const table = createRouteTable();
  registerAll(table.registrars, services);
  table.registrars.socket("/api/ws", (socket) => hub.open(socket));
  table.registrars.socket("/api/pty", (socket) => terminals.open(socket));
  const { corsOrigins } = settings;
  const app = buildApp(table, { gate, clock, log, audit, failures, corsOrigins, redact });
  const { sockets } = table;
  const server = createHttpServer({
    front: createFront(settings, gate.mode === "gated", log),
    app,
    settings,
    upgrade: createUpgrade({ sockets, auth, settings, clock, log }),
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
    closeTerminals: () => terminals.close(),
    closeAuth: () => auth.close(),
    counts: services.counts,
  };
}
