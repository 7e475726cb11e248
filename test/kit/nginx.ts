// A real nginx (Debian's nginx-light) in front of a server: with or without a prefix, TLS, default buffers.
//
//   const proxy = await startNginx(t, { prefix: "/hermes", tls: true });
//   const server = await startGate(t, { …, env: { HERMES_DASHBOARD_PUBLIC_URL: proxy.url } });
//   await proxy.publish(server.port);
//   … proxy.url is https://agent.example.test:<port>/hermes, for a browser of test/kit/browser.ts …
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { request } from "node:https";
import { ask } from "./http.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./until.ts";

const PROGRAM = "/usr/sbin/nginx";
const OPENSSL = "/usr/bin/openssl";

const missing = [PROGRAM, OPENSSL].find((program) => !existsSync(program));

/** For `test(name, { skip: NO_NGINX })`: the reason, or false. */
export const NO_NGINX = missing === undefined ? false : `needs ${missing}`;

/** Every name under it leads browsers of test/kit/browser.ts to loopback. */
export const HOST = "agent.example.test";

export interface NginxOptions {
  /** Path under which the server is published: "" (default) or `/hermes`. */
  readonly prefix?: string;
  /** Whether the prefix is taken off before the server sees the path; true by default. */
  readonly strips?: boolean;
  readonly tls?: boolean;
  /** `proxy_read_timeout` in whole seconds: how long a silent upstream is kept; nginx's own default is 60. */
  readonly idleSeconds?: number;
}

export interface Nginx {
  readonly port: number;
  /** `http(s)://agent.example.test:<port>` */
  readonly origin: string;
  /** Origin and prefix: what an operator calls the public URL. */
  readonly url: string;
  /** Passes on to this port of loopback from now on. */
  publish(port: number): Promise<void>;
}

const MOST_TRIES = 5;
/** What it answers as long as nothing is published. */
const NOTHING_YET = 599;

export async function startNginx(t: TestContext, options: NginxOptions = {}): Promise<Nginx> {
  const folder = tempDir(t, "hermes-nginx");
  if (options.tls === true) makeCertificate(folder);
  for (let tried = 1; ; tried++) {
    const port = await freePort();
    const child = await startOn(port, folder, options);
    if (child === null && tried < MOST_TRIES) continue;
    if (child === null) throw new Error(`nginx found no free port in ${MOST_TRIES} tries`);
    t.after(() => end(child));
    return describe(port, child, folder, options);
  }
}

function describe(port: number, child: ChildProcess, folder: string, options: NginxOptions): Nginx {
  const origin = `${options.tls === true ? "https" : "http"}://${HOST}:${port}`;
  return {
    port,
    origin,
    url: `${origin}${options.prefix ?? ""}`,
    async publish(upstream) {
      writeFileSync(join(folder, "site.conf"), site(upstream, options));
      const before = workersOf(child);
      child.kill("SIGHUP");
      const isTls = options.tls === true;
      // The old worker goes on accepting for a moment beside the new one.
      await until("only new workers are left", () => {
        const now = workersOf(child);
        return now[0] !== "" && !now.some((pid) => before.includes(pid));
      });
      await until("nginx passes on", async () => (await statusOf(port, isTls)) !== NOTHING_YET);
    },
  };
}

function workersOf({ pid = 0 }: ChildProcess): readonly string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
}

/** null: the port was taken in between. */
async function startOn(
  port: number,
  folder: string,
  options: NginxOptions,
): Promise<ChildProcess | null> {
  writeFileSync(join(folder, "nginx.conf"), frame(port, folder, options));
  writeFileSync(join(folder, "site.conf"), `location / { return ${NOTHING_YET}; }\n`);
  mkdirSync(join(folder, "temp"), { recursive: true });
  const child = spawn(
    PROGRAM,
    ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf"), "-g", "daemon off;"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
  const answers = await until("nginx answers", async () => {
    if (child.exitCode !== null) return "ended";
    return (await statusOf(port, options.tls === true)) === NOTHING_YET ? "answers" : null;
  });
  if (answers === "answers") return child;
  if (problems.includes("Address already in use")) return null;
  throw new Error(`nginx does not start: ${problems}`);
}

/** The master ends its workers; it is asked by its pid and waited for. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

function statusOf(port: number, tls: boolean): Promise<number> {
  const path = "/nginx-asks-who-answers";
  if (!tls) return ask(`http://127.0.0.1:${port}${path}`).then(({ status }) => status);
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, rejectUnauthorized: false, agent: false };
    const question = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    question.on("error", reject);
    question.end();
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Throw-away, for every name under example.test. */
function makeCertificate(folder: string): void {
  const to = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const names = ["-subj", `/CN=${HOST}`, "-addext", "subjectAltName=DNS:*.example.test"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync(OPENSSL, ["req", "-x509", "-days", "2", ...kind, ...names, ...to], {
    stdio: "ignore",
  });
}

function frame(port: number, folder: string, { tls }: NginxOptions): string {
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `  ${kind}_temp_path ${folder}/temp/${kind};`)
    .join("\n");
  const certificate =
    tls === true
      ? `    ssl_certificate ${folder}/cert.pem;\n    ssl_certificate_key ${folder}/key.pem;`
      : "";
  return `${user}
pid ${folder}/nginx.pid;
worker_processes 1;
events { worker_connections 512; }
http {
  access_log off;
  absolute_redirect off;
${temp}
  map $http_upgrade $connection_upgrade { default upgrade; "" close; }
  server {
    listen 127.0.0.1:${port}${tls === true ? " ssl" : ""};
    server_name ${HOST};
${certificate}
    include ${folder}/site.conf;
  }
}
`;
}

/** As the guides of such servers have it; buffers stay at their defaults. */
function site(upstream: number, options: NginxOptions): string {
  const { prefix = "", strips = true, idleSeconds } = options;
  const target = `http://127.0.0.1:${upstream}${strips ? "/" : ""}`;
  const idle = idleSeconds === undefined ? "" : `  proxy_read_timeout ${idleSeconds}s;\n`;
  const header = prefix === "" ? "" : `  proxy_set_header X-Forwarded-Prefix ${prefix};\n`;
  return `location ${prefix}/ {
  proxy_pass ${target};
  proxy_http_version 1.1;
  proxy_set_header Host $http_host;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $connection_upgrade;
${header}${idle}}
`;
}
