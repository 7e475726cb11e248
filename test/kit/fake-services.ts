// The service desk of a dashboard under test: a manager in memory whose answers a test sets.
import type { ServiceDesk } from "#dashboard/deps.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import type { ControlOptions, ServiceManager } from "#supervisor/port.ts";

export interface FakeServices extends ServiceDesk {
  readonly calls: string[];
  set(services: readonly ServiceBody[]): void;
  /** What the next start, stop or restart does. */
  answer: (slot: string, action: string) => Promise<ServiceBody>;
}

export function fakeService(given: Partial<ServiceBody> = {}): ServiceBody {
  return {
    name: "gateway-default",
    kind: "gateway",
    profile: "default",
    state: "ready",
    reason: null,
    desired: "running",
    pid: 4242,
    since: "2026-01-15T10:00:00.000Z",
    restarts: 0,
    restarts_60s: 0,
    last_exit: null,
    next_start_at: null,
    error: null,
    log: null,
    ...given,
  };
}

export function fakeServices(initial: readonly ServiceBody[] = []): FakeServices {
  let services = initial;
  const calls: string[] = [];
  const control =
    (action: string) =>
    (slot: string, options: ControlOptions): Promise<ServiceBody> => {
      calls.push(`${action} ${slot} ${options.source}`);
      return desk.answer(slot, action);
    };
  const manager: ServiceManager = {
    kind: "s6",
    label: "s6 (container supervisor)",
    canRegister: true,
    scandir: "/run/service",
    list: async () => services.map(({ name }) => name),
    facts: () => Promise.reject(new Error("not asked in these tests")),
    register: async () => undefined,
    unregister: async () => undefined,
    start: control("start"),
    stop: control("stop"),
    restart: control("restart"),
    rescan: async () => undefined,
  };
  const desk: FakeServices = {
    manager,
    gatewayHealthUrl: null,
    calls,
    set: (next) => (services = next),
    answer: async (slot) => fakeService({ name: slot }),
    watch: {
      services: () => services,
      observed: () => null,
      asOf: () => Date.parse("2026-01-15T10:00:00.000Z"),
      refresh: async () => undefined,
      close: () => undefined,
    },
  };
  return desk;
}
