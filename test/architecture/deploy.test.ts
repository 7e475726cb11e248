// The files of deploy/ and the container guide say what the code does (container.md §15).
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { classify, isCommand } from "#cli/container/classify.ts";
import { variableOf, VARIABLES } from "#config/env.ts";
import { route } from "#container/route.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Compose {
  readonly services: Record<
    string,
    {
      readonly command: string;
      readonly environment?: Record<string, string>;
      readonly ports: readonly string[];
      readonly volumes: readonly string[];
      readonly restart: string;
      readonly stop_grace_period?: string;
      readonly init?: boolean;
      readonly network_mode?: string;
    }
  >;
}

interface Pod {
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Record<string, unknown>;
  readonly shareProcessNamespace?: boolean;
  readonly containers: readonly [
    {
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
      readonly securityContext: Record<string, unknown>;
      readonly startupProbe: Probe;
      readonly livenessProbe: Probe;
      readonly readinessProbe: Probe;
      readonly volumeMounts: readonly { readonly mountPath: string }[];
    },
  ];
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

async function roleOf(words: readonly string[]): Promise<string> {
  const facts = { isTerminal: false, supervised: true, noSupervise: false, isProgram: () => false };
  return (await route(words, { ...facts, isCommand, classify })).role;
}

function assertKnown(names: readonly string[]): void {
  for (const name of names) {
    const plain = name.replace(/_FILE$/u, "");
    const isKnown = variableOf(name) !== null || variableOf(plain)?.secret === true;
    assert.ok(isKnown, `${name} is no variable of ours`);
  }
}

test("compose.yaml: one supervised gateway, a page behind a password from a file", async () => {
  const { services } = parse(read("deploy/compose.yaml")) as Compose;
  const [service] = Object.values(services);
  assert.equal(Object.keys(services).length, 1);
  assert.ok(service);
  assert.equal(await roleOf(service.command.split(" ")), "gateway");
  const env = service.environment ?? {};
  assertKnown(Object.keys(env));
  assert.equal(env["HERMES_DASHBOARD"], "1");
  assert.ok(env["HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_FILE"]);
  assert.deepEqual(
    [env["HERMES_STOP_GRACE"], service.stop_grace_period, service.restart],
    ["15", "15s", "unless-stopped"],
  );
  assert.deepEqual(service.ports, ["127.0.0.1:9119:9119"]);
  assert.deepEqual(service.volumes, ["~/.hermes:/opt/data"]);
  assert.deepEqual([service.init, service.network_mode], [undefined, undefined]);
});

test("compose.windows.yaml: --insecure stands on the command itself, the port stays on this machine", async () => {
  const text = read("deploy/compose.windows.yaml");
  const { services } = parse(text) as Compose;
  const [service] = Object.values(services);
  assert.ok(service);
  assert.equal(service.command, "dashboard --host 0.0.0.0 --insecure");
  assert.equal(await roleOf(service.command.split(" ")), "dashboard");
  assert.ok(service.ports.every((port) => port.startsWith("127.0.0.1:")));
  assert.equal(service.environment?.["HERMES_DASHBOARD_INSECURE"], undefined);
  assert.match(text, /# --insecure .* no login/u);
});

test("kubernetes: a strict pod, one replica, probes that a stopped gateway does not fail", async () => {
  const documents = parseAllDocuments(read("deploy/kubernetes/hermes.yaml")).map(
    (document) => document.toJS() as Record<string, unknown>,
  );
  const set = documents.find(({ kind }) => kind === "StatefulSet") as {
    spec: { replicas: number; template: { spec: Pod } };
  };
  assert.equal(set.spec.replicas, 1);
  const pod = set.spec.template.spec;
  assert.deepEqual(
    [pod.enableServiceLinks, pod.terminationGracePeriodSeconds, pod.shareProcessNamespace],
    [false, 30, undefined],
  );
  assert.deepEqual(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: 10000,
    runAsGroup: 10000,
    fsGroup: 10000,
    fsGroupChangePolicy: "OnRootMismatch",
  });
  const [container] = pod.containers;
  assert.equal(await roleOf(container.args), "gateway");
  assertKnown(container.env.map(({ name }) => name));
  assert.equal(container.env.find(({ name }) => name === "HERMES_STOP_GRACE")?.value, "30");
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    assert.equal(probe.httpGet.path, "/api/health");
  }
  assert.deepEqual(container.volumeMounts.map(({ mountPath }) => mountPath).slice(0, 3), [
    "/opt/data",
    "/run",
    "/tmp",
  ]);
});

test("fly.toml: supervise as the command, the volume, a check without a cookie, never stopped by itself", async () => {
  const lines = read("deploy/fly.toml")
    .split("\n")
    .map((line) => line.trim());
  for (const line of [
    'cmd = ["supervise"]',
    'destination = "/opt/data"',
    'HERMES_DASHBOARD = "1"',
    "internal_port = 9119",
    'path = "/api/status"',
    'kill_signal = "SIGTERM"',
    "kill_timeout = 15",
    'auto_stop_machines = "off"',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assertKnown(lines.flatMap((line) => /^(HERMES_\w+) =/u.exec(line)?.[1] ?? []));
  assert.equal(await roleOf(["supervise"]), "supervise");
});

const GUIDES = ["docs/guides/docker.md", "docs/zh-Hans/guides/docker.md"] as const;

test("both container guides have the same headings and name exactly the code's variables", () => {
  const [en, zh] = GUIDES.map(read);
  const depths = (text = ""): readonly string[] =>
    text.split("\n").flatMap((line) => /^#+ /u.exec(line)?.[0] ?? []);
  assert.deepEqual(depths(zh), depths(en));
  const wanted = VARIABLES.filter(
    ({ area, name, description }) =>
      (area === "container" || area === "dashboard" || GENERAL.includes(name)) &&
      !description.startsWith("Set by us"),
  ).map(({ name }) => name);
  for (const text of [en ?? "", zh ?? ""]) {
    const rows = text.split("\n").flatMap((line) => /^\| `([A-Z_]+)` \|/u.exec(line)?.[1] ?? []);
    assert.deepEqual([...rows].sort(), [...wanted].sort());
  }
});

const GENERAL: readonly string[] = ["HERMES_HOME", "HERMES_HOME_MODE", "HERMES_WRITE_SAFE_ROOT"];

test("every message of the trouble tables is one of the program's", () => {
  const sources = [...filesIn("src"), ...filesIn("docker")]
    .filter((path) => !path.endsWith(".test.ts"))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  for (const guide of GUIDES) {
    const [, table = ""] = read(guide).split(/\n## (?:Trouble|故障排除)\n/u);
    const messages = [...table.matchAll(/^\| `([^`]+)` \|/gmu)].map((found) => found[1] ?? "");
    assert.ok(messages.length >= 8);
    for (const message of messages) assert.ok(sources.includes(message), message);
  }
});

test("nothing else lies in deploy/", () => {
  assert.deepEqual(readdirSync(join(ROOT, "deploy")).sort(), [
    "compose.windows.yaml",
    "compose.yaml",
    "fly.toml",
    "kubernetes",
  ]);
});

function filesIn(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return names.map((name) => join(ROOT, folder, name)).filter((path) => statSync(path).isFile());
}
