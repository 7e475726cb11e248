// Where nothing supervises (container.md §7.4): a gateway can be started in its own session and stopped by its verified
// identity; nothing restarts it, and no slot is registered.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { processStartTime } from "#base/process-identity.ts";
import { EXIT } from "#base/exit-codes.ts";
import { findProfiles } from "#profile/find.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { LABELS } from "./detect.ts";
import type { OpenManagerOptions } from "./open.ts";
import { type ControlOptions, invalidName, ServiceError, type ServiceManager } from "./port.ts";
import { markPlannedStop, type PlannedIntent, readObject, writeDesired } from "./service-files.ts";
import { GATEWAY_LOCK, unsupervisedService } from "./services.ts";
import { parseSlotName } from "./slot-name.ts";

const STEP_MS = 50;

export function createNoManager(
  kind: "systemd" | "none",
  options: OpenManagerOptions,
): ServiceManager {
  const gateways = new PlainGateways(options);
  return {
    kind,
    label: LABELS[kind],
    canRegister: false,
    scandir: null,
    list: async () => [],
    facts: (slot) => Promise.reject(noManager(slot)),
    register: ({ profile }) => Promise.reject(noManager(`gateway-${profile}`)),
    unregister: async () => undefined,
    start: (slot, how) => gateways.start(slot, how),
    stop: (slot, how) => gateways.stop(slot, how),
    async restart(slot, how) {
      await gateways.stop(slot, how, "restart");
      return gateways.start(slot, how);
    },
    rescan: async () => undefined,
  };
}

function noManager(slot: string): ServiceError {
  return new ServiceError("no-manager", `Nothing here supervises ${slot}.`, {
    slot,
    fix: 'Run "hermes gateway run" in a terminal, "hermes supervise" where s6 is installed, or the container image.',
  });
}

class PlainGateways {
  readonly #options: OpenManagerOptions;

  constructor(options: OpenManagerOptions) {
    this.#options = options;
  }

  async start(slot: string, how: ControlOptions): Promise<ServiceBody> {
    const { name, home } = this.#profile(slot);
    const before = this.#judge(name, home);
    if (["ready", "degraded"].includes(before.state)) return before;
    if (before.state !== "stopped") {
      throw new ServiceError(
        "timeout",
        `${slot} is ${before.state}${before.reason === null ? "" : ` (${before.reason})`}.`,
        { slot, exit: EXIT.restart },
      );
    }
    writeDesired(home, { desired: "running", by: how.by, source: how.source }, Date.now());
    const log = join(home, "logs", "gateway-output.log");
    const ended = this.#spawn(name, home, log);
    const end = performance.now() + how.waitMs;
    for (;;) {
      const now = this.#judge(name, home);
      if (["ready", "degraded"].includes(now.state)) return now;
      const code = ended();
      if (code !== null) throw died(slot, code, log);
      if (performance.now() >= end) {
        throw new ServiceError("timeout", `${slot} is ${now.state} after ${how.waitMs / 1000} s.`, {
          slot,
          exit: EXIT.restart,
          fix: `Its output: ${log}`,
        });
      }
      await pause();
    }
  }

  async stop(
    slot: string,
    how: ControlOptions,
    intent: PlannedIntent = "stop",
  ): Promise<ServiceBody> {
    const { name, home } = this.#profile(slot);
    writeDesired(home, { desired: "stopped", by: how.by, source: how.source }, Date.now());
    const { lock } = this.#options;
    if (!lock.isHeld(join(home, GATEWAY_LOCK))) return this.#judge(name, home);
    const fields = readObject(join(home, "gateway.pid"));
    const { pid, start_time: startTime, host } = fields ?? {};
    // A number of another machine may be anybody's here: pid, start time, host and home must all be this gateway's.
    const isOurs =
      typeof pid === "number" &&
      typeof startTime === "string" &&
      host === hostname() &&
      fields?.["home"] === home &&
      processStartTime(pid) === startTime;
    if (!isOurs) {
      throw new ServiceError(
        "permission",
        `The gateway of ${name} runs where it cannot be seen from here.`,
        { slot, profile: name, fix: "Stop it on the machine or in the container that started it." },
      );
    }
    markPlannedStop(home, { pid, startTime }, intent, Date.now());
    process.kill(pid, "SIGTERM");
    const end = performance.now() + how.waitMs;
    while (lock.isHeld(join(home, GATEWAY_LOCK))) {
      if (performance.now() >= end) {
        throw new ServiceError(
          "timeout",
          `${slot} (pid ${pid}) did not stop within ${how.waitMs / 1000} s.`,
          { slot },
        );
      }
      await pause();
    }
    return this.#judge(name, home);
  }

  #spawn(name: string, home: string, log: string): () => number | null {
    mkdirSync(join(home, "logs"), { recursive: true, mode: 0o750 });
    const output = openSync(log, "a", 0o640);
    const child = spawn(
      process.execPath,
      [
        ...process.execArgv,
        join(this.#options.project, "bin", "hermes.mjs"),
        "-p",
        name,
        "gateway",
        "run",
        "--no-supervise",
      ],
      {
        detached: true,
        stdio: ["ignore", output, output],
        env: { ...this.#options.env },
        cwd: home,
      },
    );
    closeSync(output);
    let code: number | null = null;
    child.once("exit", (exit) => (code = exit ?? EXIT.failed));
    child.once("error", () => (code = EXIT.failed));
    child.unref();
    return () => code;
  }

  #judge(name: string, home: string): ServiceBody {
    return unsupervisedService(this.#options, name, home);
  }

  #profile(slot: string): { readonly name: string; readonly home: string } {
    const id = parseSlotName(slot);
    if (id === null) throw invalidName(slot);
    if (id.kind !== "gateway") throw noManager(slot);
    const { profiles } = findProfiles(this.#options.root);
    const found = profiles.find(({ name }) => name === id.profile);
    if (found) return found;
    const names = profiles.map(({ name }) => name).join(", ");
    throw new ServiceError(
      "unknown-profile",
      `There is no profile "${id.profile}". There are: ${names}.`,
      { slot, profile: id.profile },
    );
  }
}

function died(slot: string, code: number, log: string): ServiceError {
  const refused = code === EXIT.refused;
  return new ServiceError(
    refused ? "refused" : "crash-looping",
    `${slot} ended with code ${code} before it was ready.`,
    { slot, fix: `Its output says why: ${log}` },
  );
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, STEP_MS);
  });
}
