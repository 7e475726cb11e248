// `hermes dashboard` with the built browser app, as a real process on a port of its own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startCli, type CliProcess } from "./cli.ts";
import { until } from "./until.ts";

const WAIT_MS = 60_000;

export interface WebServer {
  readonly url: string;
  readonly home: string;
  readonly run: CliProcess;
  stop(): Promise<void>;
}

export interface WebServerOptions {
  readonly home: string;
  readonly webDist: string;
  readonly port?: number;
  /** Chooses the demo model, as somebody who has been here before. */
  readonly demo?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startWebServer(
  t: TestContext,
  options: WebServerOptions,
): Promise<WebServer> {
  const { home } = options;
  mkdirSync(home, { recursive: true });
  if (options.demo === true) {
    writeFileSync(join(home, "config.yaml"), "model:\n  provider: demo\n  default: demo\n");
  }
  const run = startCli(["dashboard", "--port", String(options.port ?? 0)], {
    home,
    env: { HERMES_WEB_DIST: options.webDist, ...options.env },
  });
  t.after(() => run.child.kill("SIGKILL"));
  const line = await until(
    "the start line",
    () => {
      if (run.child.exitCode !== null) throw new Error(`the dashboard ended: ${run.stderr()}`);
      return /→ (http:\/\/127\.0\.0\.1:\d+)(?: \(public: [^)]*\))?\n/.exec(run.stdout());
    },
    WAIT_MS,
  );
  return {
    url: line[1] ?? "",
    home,
    run,
    stop: async () => {
      run.child.kill("SIGTERM");
      await run.ended;
    },
  };
}
