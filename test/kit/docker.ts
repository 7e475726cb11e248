// The only way to touch the container engine (container.md §13.3). Everything is named and labelled, waits by condition and is
// removed in the end; HTTP is never "up or down" but (status, body).
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

const LABEL = "hermes-test";
const RUN = `${process.pid}-${Date.now().toString(36)}`;
const OURS = ["--all", "--quiet", "--filter", `label=${LABEL}=${RUN}`];
const DEADLINE_MS = 60_000;
const TOOL_MS = 120_000;

export interface End {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** Runs `docker …` to its end; never throws on a code that is not 0. */
export function docker(args: readonly string[], input?: string): Promise<End> {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = execFile(
      "docker",
      [...args],
      { encoding: "utf8", timeout: TOOL_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout, stderr, ms: performance.now() - started });
      },
    );
    // A container may end before it has read.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input ?? "");
  });
}

/** Why the ring cannot run here, for `skip`; false when it can. Asked once. */
export const noEngine: string | false = await findEngine();

/** The image under test: HERMES_TEST_IMAGE, or `hermes:test` as `npm run image -- --tag hermes:test` builds it. */
export const IMAGE = process.env["HERMES_TEST_IMAGE"] ?? "hermes:test";

async function findEngine(): Promise<string | false> {
  const image = process.env["HERMES_TEST_IMAGE"] ?? "hermes:test";
  const version = await docker(["version", "--format", "{{.Server.Version}}"]);
  if (version.code !== 0) return "container: no engine answers (DOCKER_HOST)";
  const inspected = await docker(["image", "inspect", image]);
  if (inspected.code === 0) return false;
  return `container: the image ${image} is not built (npm run image -- --tag ${image})`;
}

export interface Container {
  readonly id: string;
  readonly name: string;
}

export interface StartOptions {
  /** Options of `docker run` before the image. */
  readonly opts?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Words after the image. */
  readonly args?: readonly string[];
  /** False: return at once, without waiting for setup to be done. */
  readonly waits?: boolean;
}

let count = 0;

/** Gone with its volumes when the test ends. Returns when its setup is done: a new line in the boot log. */
export async function startContainer(
  t: Pick<TestContext, "after">,
  { opts = [], env = {}, args = [], waits = true }: StartOptions = {},
): Promise<Container> {
  const name = `hermes-t-${RUN}-${++count}`;
  t.after(() => docker(["rm", "--force", "--volumes", name]));
  const words = [
    "run",
    "--detach",
    "--name",
    name,
    "--label",
    `${LABEL}=${RUN}`,
    ...Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
    ...opts,
    IMAGE,
    ...args,
  ];
  const end = await docker(words);
  if (end.code !== 0) throw new Error(`docker run failed: ${end.stderr}`);
  const container = { id: end.stdout.trim(), name };
  if (waits) await setupDone(container, 0);
  return container;
}

/** Lines of the boot log that mark the end of a setup so far. */
export async function bootLines(c: Container): Promise<number> {
  const { stdout } = await dockerExec(c, ["cat", "/opt/data/logs/container-boot.log"]);
  return stdout.split("\n").filter((line) => line.includes("profile=default")).length;
}

/** Waits for a boot-log line after the first `before` ones (container.md §3). */
export async function setupDone(c: Container, before: number): Promise<void> {
  await waitFor(c, "a new line in the boot log", async () => (await bootLines(c)) > before);
}

/** `docker run --rm` to its end, in the foreground. */
export async function runOnce(
  { opts = [], env = {}, args = [] }: StartOptions,
  input?: string,
): Promise<End> {
  const name = `hermes-t-${RUN}-${++count}`;
  const words = [
    "run",
    "--rm",
    "--name",
    name,
    "--label",
    `${LABEL}=${RUN}`,
    ...(input === undefined ? [] : ["--interactive"]),
    ...Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
    ...opts,
    IMAGE,
    ...args,
  ];
  return docker(words, input);
}

export interface ExecOptions {
  /** Root must be spelled out, with a comment that says why. */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** As hermes unless said otherwise. */
export function dockerExec(
  c: Container,
  argv: readonly string[],
  options: ExecOptions = {},
): Promise<End> {
  const { user = "hermes", env = {}, input } = options;
  const words = [
    "exec",
    ...(input === undefined ? [] : ["--interactive"]),
    "--user",
    user,
    ...Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
    c.name,
    ...argv,
  ];
  return docker(words, input);
}

/** `hermes …` inside, as hermes. */
export const hermes = (c: Container, ...words: readonly string[]): Promise<End> =>
  dockerExec(c, ["hermes", ...words]);

/** A shell line inside, as hermes; its stdout, trimmed. */
export async function sh(c: Container, line: string): Promise<string> {
  return (await dockerExec(c, ["sh", "-c", line])).stdout.trim();
}

/** Asks from 50 up to 250 ms apart. On expiry it throws with the last value, the container's log and its status. */
export async function waitFor<T>(
  c: Container | null,
  what: string,
  ask: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<NonNullable<T>> {
  const end = performance.now() + deadlineMs;
  let gap = 50;
  let last: unknown;
  for (;;) {
    try {
      last = await ask();
      if (last) return last as NonNullable<T>;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) throw new Error(await lateText(c, what, deadlineMs, last));
    await pause(gap);
    gap = Math.min(gap * 1.5, 250);
  }
}

async function lateText(
  c: Container | null,
  what: string,
  deadlineMs: number,
  last: unknown,
): Promise<string> {
  const parts = [
    `waited ${deadlineMs} ms for ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  ];
  if (c !== null) {
    const log = await docker(["logs", "--tail", "40", c.name]);
    const status = await hermes(c, "status", "--json");
    parts.push(
      `log:\n${log.stdout}${log.stderr}`,
      `status: ${`${status.stdout}${status.stderr}`.slice(0, 3000)}`,
    );
  }
  return parts.join("\n");
}

export interface Service {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly desired: string | null;
  readonly pid: number | null;
  readonly restarts: number;
  readonly error: { readonly message: string; readonly ways_out: readonly string[] } | null;
}

export async function services(c: Container): Promise<readonly Service[]> {
  const { stdout } = await hermes(c, "status", "--json");
  return (JSON.parse(stdout) as { services: Service[] }).services;
}

export async function serviceOf(c: Container, name: string): Promise<Service> {
  const found = (await services(c)).find((entry) => entry.name === name);
  if (!found) throw new Error(`no service ${name}`);
  return found;
}

/** Ready twice, at least 300 ms apart, with one pid: no test passes in the middle of a restart loop. */
export async function waitReady(
  c: Container,
  name: string,
  deadlineMs = DEADLINE_MS,
): Promise<Service> {
  let seen: { readonly pid: number | null; readonly at: number } | null = null;
  return waitFor(
    c,
    `${name} to be ready`,
    async () => {
      const service = await serviceOf(c, name);
      if (service.state !== "ready") {
        seen = null;
        return null;
      }
      if (seen?.pid !== service.pid) seen = { pid: service.pid, at: performance.now() };
      return performance.now() - seen.at >= 300 ? service : null;
    },
    deadlineMs,
  );
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** (status, body) for any HTTP answer, 401 included; null only without an answer. Inside the container. */
export async function httpProbe(
  c: Container,
  path: string,
  port = 9119,
): Promise<HttpAnswer | null> {
  const end = await hermes(c, "probe", "--raw", `http://127.0.0.1:${port}${path}`);
  return end.code === 0 ? (JSON.parse(end.stdout) as HttpAnswer) : null;
}

/** The same from the host, over the published port. */
export async function httpFromHost(
  c: Container,
  path: string,
  inside = 9119,
): Promise<HttpAnswer | null> {
  const port = await publishedPort(c, inside);
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, path, agent: false, timeout: 5000 },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
        );
      },
    );
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(null));
    asked.end();
  });
}

async function publishedPort(c: Container, inside: number): Promise<number> {
  const { stdout } = await docker(["port", c.name, String(inside)]);
  const port = Number(/:(\d+)$/mu.exec(stdout)?.[1]);
  if (!port) throw new Error(`${c.name} publishes no port ${inside}: ${stdout}`);
  return port;
}

/** By /proc/net/tcp and tcp6, state 0A: the image has neither ss nor netstat. */
export async function listening(c: Container, port: number): Promise<boolean> {
  const table = await sh(c, "cat /proc/net/tcp /proc/net/tcp6");
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return new RegExp(`^\\s*\\d+: [0-9A-F]+:${hex} [0-9A-F:]+ 0A `, "mu").test(table);
}

export async function inspect(c: Container, format: string): Promise<string> {
  return (await docker(["inspect", "--format", format, c.name])).stdout.trim();
}

export async function logs(c: Container): Promise<string> {
  const { stdout, stderr } = await docker(["logs", c.name]);
  return stdout + stderr;
}

/** Stops it, and says how long that took and with which code it ended. */
export async function stop(c: Container): Promise<{ readonly ms: number; readonly code: number }> {
  const { ms } = await docker(["stop", c.name]);
  return { ms, code: Number(await inspect(c, "{{.State.ExitCode}}")) };
}

/** Waits for its end by itself. */
export async function exitCode(c: Container, deadlineMs = DEADLINE_MS): Promise<number> {
  await waitFor(
    c,
    "the container to end",
    async () => (await inspect(c, "{{.State.Running}}")) === "false",
    deadlineMs,
  );
  return Number(await inspect(c, "{{.State.ExitCode}}"));
}

export async function signal(c: Container, name: string): Promise<void> {
  await docker(["kill", "--signal", name, c.name]);
}

export interface PtyStep {
  /** Waits until the output so far (from the last step on) matches. */
  readonly when: RegExp;
  /** Then: text to type, or a new size of the terminal. */
  readonly type: string | { readonly rows: number; readonly columns: number };
}

/** `docker run -it` under a pseudo-terminal; only markers of its output are looked at. */
export async function ptyRun(
  t: Pick<TestContext, "after">,
  { opts = [], env = {}, args = [] }: StartOptions,
  steps: readonly PtyStep[],
  size = { rows: 30, columns: 100 },
): Promise<{ readonly code: number; readonly output: string }> {
  const name = `hermes-t-${RUN}-${++count}`;
  t.after(() => docker(["rm", "--force", "--volumes", name]));
  const words = [
    "docker",
    "run",
    "--rm",
    "-it",
    "--name",
    name,
    "--label",
    `${LABEL}=${RUN}`,
    ...Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
    ...opts,
    IMAGE,
    ...args,
  ];
  const line = `tty; stty rows ${size.rows} cols ${size.columns}; exec ${words.map(quote).join(" ")}`;
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  let mark = 0;
  child.stdout.on("data", (part: Buffer) => (output += part.toString("utf8")));
  child.stderr.on("data", (part: Buffer) => (output += part.toString("utf8")));
  const ended = new Promise<number>((resolve) => {
    child.once("exit", (code) => resolve(code ?? -1));
  });
  for (const { when, type } of steps) {
    await waitFor(
      null,
      `${when.source} on the terminal; so far ${JSON.stringify(output.slice(-500))}`,
      () => when.test(output.slice(mark)),
      20_000,
    );
    mark = output.length;
    if (typeof type === "string") child.stdin.write(type);
    else await resize(/\/dev\/\S+/u.exec(output)?.[0] ?? "", type);
  }
  const code = await Promise.race([ended, pause(DEADLINE_MS, -2, { ref: false })]);
  if (code === -2) child.kill("SIGKILL");
  return { code, output };
}

/** As a window manager does: the programs on that terminal get SIGWINCH. */
function resize(tty: string, to: { readonly rows: number; readonly columns: number }) {
  return new Promise<void>((resolve, reject) => {
    const words = ["-F", tty, "rows", String(to.rows), "cols", String(to.columns)];
    execFile("stty", words, (error) => (error === null ? resolve() : reject(error)));
  });
}

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Everything of this run that is still there: called once at the end of each file. */
export async function removeAll(): Promise<void> {
  const { stdout } = await docker(["ps", ...OURS]);
  const ids = stdout.split("\n").filter((id) => id !== "");
  if (ids.length > 0) await docker(["rm", "--force", "--volumes", ...ids]);
}

/** A runner that gives up on a file ends it by TERM: its containers go with it. */
process.once("SIGTERM", () => {
  const { stdout } = spawnSync("docker", ["ps", ...OURS], { encoding: "utf8" });
  const ids = stdout.split("\n").filter((id) => id !== "");
  if (ids.length > 0) spawnSync("docker", ["rm", "--force", "--volumes", ...ids]);
  process.exit(143);
});

/** A named volume of its own, gone at the end of the test. */
export async function volume(t: Pick<TestContext, "after">): Promise<string> {
  const name = `hermes-t-${RUN}-v${++count}`;
  await docker(["volume", "create", "--label", `${LABEL}=${RUN}`, name]);
  t.after(() => docker(["volume", "rm", "--force", name]));
  return name;
}

/** True where bind mounts of this machine reach the engine: a remote one does not see our files. */
export const engineIsLocal =
  (process.env["DOCKER_HOST"] ?? "unix://").startsWith("unix://") && existsSync("/proc");
