// What stands for `systemctl --user` where no systemd runs: it records what it was told, and its units behave by systemd's
// rules (systemd.service(5)) with real processes under them, so that pids and start times are those of somebody.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import type { RunTool, ToolEnd } from "#supervisor/s6/tool.ts";

/** What the service does at its next start: writes that it runs, writes nothing, or ends with a code each time. */
export type UnitPlay = "ready" | "slow" | number;

interface Unit {
  enabled: boolean;
  active: "inactive" | "active" | "failed" | "activating";
  child: ChildProcess | null;
  code: number;
  restarts: number;
  startedAt: number;
  endedAt: number;
}

/** Codes after which our units stay down. */
const FINAL: readonly number[] = [0, 64, 78];

export class MemorySystemd {
  readonly calls: string[] = [];
  /** Set: nothing answers, and this is why. */
  trouble: string | null = null;
  readonly #home: string;
  readonly #units = new Map<string, Unit>();
  readonly #plays = new Map<string, UnitPlay>();

  constructor(t: TestContext, home: string) {
    this.#home = home;
    t.after(() => {
      for (const { child } of this.#units.values()) child?.kill("SIGKILL");
    });
  }

  play(unit: string, how: UnitPlay): void {
    this.#plays.set(unit, how);
  }

  /** What was told, without the questions. */
  told(): readonly string[] {
    return this.calls.filter((call) => !call.startsWith("show "));
  }

  child(unit: string): ChildProcess | null {
    return this.#units.get(unit)?.child ?? null;
  }

  readonly run: RunTool = async (name, [user, ...words]) => {
    this.calls.push(words.join(" "));
    if (name !== "systemctl" || user !== "--user") return end(1, "", "not systemctl --user");
    if (this.trouble !== null) return end(1, "", this.trouble);
    const unit = words.at(-1) ?? "";
    switch (words.find((word) => !word.startsWith("-")) ?? "") {
      case "show":
        return end(0, this.#show(unit));
      case "enable":
        this.#get(unit).enabled = true;
        return end(0);
      case "disable":
        this.#stop(unit);
        this.#units.delete(unit);
        return end(0);
      case "start":
        this.#start(unit);
        return end(0);
      case "restart":
        this.#stop(unit);
        this.#start(unit);
        return end(0);
      case "stop":
        this.#stop(unit);
        return end(0);
      case "reset-failed":
        this.#get(unit).restarts = 0;
        return end(0);
      case "daemon-reload":
        return end(0);
      default:
        return end(1, "", `Unknown command verb ${words[0]}.`);
    }
  };

  #start(name: string): void {
    const unit = this.#get(name);
    const how = this.#plays.get(name) ?? "ready";
    unit.startedAt = now();
    if (typeof how === "number") {
      unit.code = how;
      unit.endedAt = now();
      unit.active = FINAL.includes(how) ? (how === 0 ? "inactive" : "failed") : "activating";
      // Restart=always: it has died three times before anybody looks.
      if (unit.active === "activating") unit.restarts = 2;
      return;
    }
    unit.child = spawn("sleep", ["60"], { stdio: "ignore" });
    unit.active = "active";
    unit.endedAt = 0;
    if (how === "ready") this.#writeRecord(unit.child.pid ?? 0);
  }

  #writeRecord(pid: number): void {
    const record = {
      kind: "hermes-gateway",
      pid,
      start_time: processStartTime(pid),
      gateway_state: "running",
      updated_at: new Date().toISOString(),
    };
    writeFileSync(join(this.#home, "gateway_state.json"), JSON.stringify(record));
  }

  #stop(name: string): void {
    const unit = this.#get(name);
    if (unit.child !== null) unit.endedAt = now();
    unit.child?.kill("SIGTERM");
    unit.child = null;
    unit.active = "inactive";
    unit.code = 0;
  }

  #get(name: string): Unit {
    const known = this.#units.get(name);
    if (known !== undefined) return known;
    const unit: Unit = {
      enabled: false,
      active: "inactive",
      child: null,
      code: 0,
      restarts: 0,
      startedAt: 0,
      endedAt: 0,
    };
    this.#units.set(name, unit);
    return unit;
  }

  #show(name: string): string {
    const unit = this.#units.get(name);
    if (unit === undefined) return "LoadState=not-found\nActiveState=inactive\n";
    return [
      "LoadState=loaded",
      `ActiveState=${unit.active}`,
      `SubState=${unit.active === "activating" ? "auto-restart" : "whatever"}`,
      `UnitFileState=${unit.enabled ? "enabled" : "disabled"}`,
      `MainPID=${unit.child?.pid ?? 0}`,
      `ExecMainCode=${unit.endedAt === 0 ? 0 : 1}`,
      `ExecMainStatus=${unit.code}`,
      `NRestarts=${unit.restarts}`,
      `ExecMainStartTimestampMonotonic=${unit.startedAt}`,
      `ExecMainExitTimestampMonotonic=${unit.endedAt}`,
      `StateChangeTimestampMonotonic=${unit.endedAt || unit.startedAt}`,
      "",
    ].join("\n");
  }
}

/** Microseconds of CLOCK_MONOTONIC. */
const now = (): number => Number(process.hrtime.bigint() / 1000n);

const end = (rc: number, stdout = "", stderr = ""): ToolEnd => ({ rc, stdout, stderr });
