import assert from "node:assert/strict";
import { test } from "node:test";
import { type Classified, route, type RouteFacts, type Routing } from "./route.ts";

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  chat: ["chat"],
  status: ["status"],
  mcp: ["mcp"],
  gateway: ["gateway"],
  dashboard: ["dashboard"],
  supervise: ["supervise"],
};

/** A small command line: words before options are the path; `-p X` and `--no-supervise` are taken out. */
function classify(given: readonly string[]): Promise<Classified> {
  const words = [...given];
  const at = words.indexOf("-p");
  const profile = at === -1 ? null : (words.splice(at, 2)[1] ?? null);
  const isInstant = words.some((word) => word === "--help" || word === "--version");
  if (words.includes("--nonsense")) return Promise.resolve({ known: false });
  return Promise.resolve({
    known: true,
    path: words.filter((word) => !word.startsWith("-")).length === 0 ? ["chat"] : words,
    isInstant,
    profile,
    noSupervise: words.includes("--no-supervise"),
  });
}

const FACTS: RouteFacts = {
  isTerminal: false,
  supervised: true,
  noSupervise: false,
  isProgram: (word) => ["sleep", "bash", "sh", "node", "status", "hermes"].includes(word),
  isCommand: (word) => word in KNOWN,
  classify,
};

const hermes = (role: Routing["role"], ...words: string[]): Routing => ({
  role,
  profile: "default",
  kind: "hermes",
  argv: ["hermes", ...words],
});
const program = (...argv: string[]): Routing => ({
  role: "command",
  profile: "default",
  kind: "program",
  argv,
});
const hold = (role: Routing["role"], profile = "default"): Routing => ({
  role,
  profile,
  kind: "hold",
  argv: [],
});

type Row = readonly [words: readonly string[], expected: Routing, facts?: Partial<RouteFacts>];

const ROWS: readonly Row[] = [
  [[], hermes("serve")],
  [[], hermes("command"), { isTerminal: true }],
  [["hermes"], hermes("serve")],
  [["hermes"], hermes("command"), { isTerminal: true }],
  [["--tui"], hermes("command", "--tui")],
  [["--version"], hermes("instant", "--version")],
  [["-p", "x", "gateway", "run"], hold("gateway", "x")],
  [["--nonsense"], hermes("instant", "--nonsense")],
  [["hermes", "chat", "-q", "hi"], hermes("command", "chat", "-q", "hi")],
  [["hermes", "hermes"], hermes("command", "hermes")],
  [["chat", "-q", "a\nb", ""], hermes("command", "chat", "-q", "a\nb", "")],
  [["status"], hermes("command", "status")],
  [["mcp", "--help"], hermes("instant", "mcp", "--help")],
  [["/bin/status"], program("/bin/status")],
  [["./status"], program("./status")],
  [["sub/dir"], program("sub/dir")],
  [["sleep", "infinity"], program("sleep", "infinity")],
  [["bash"], program("bash")],
  [["sh", "-c", "exit 42"], program("sh", "-c", "exit 42")],
  [["nosuch", "--help"], { ...hermes("instant", "nosuch", "--help"), kind: "unknown" }],
  [[""], { ...hermes("instant", ""), kind: "unknown" }],
  // Builtins and keywords are no programs.
  [["exit"], { ...hermes("instant", "exit"), kind: "unknown" }],
  [["gateway"], hold("gateway")],
  [["gateway", "run"], hold("gateway")],
  [["gateway", "run", "--help"], hermes("instant", "gateway", "run", "--help")],
  [["gateway", "status"], hermes("command", "gateway", "status")],
  [
    ["gateway", "run", "--no-supervise"],
    hermes("gateway-foreground", "gateway", "run", "--no-supervise"),
  ],
  [["gateway", "run"], hermes("gateway-foreground", "gateway", "run"), { noSupervise: true }],
  [["gateway", "run"], hermes("gateway-foreground", "gateway", "run"), { supervised: false }],
  [["dashboard"], hermes("dashboard", "dashboard")],
  [["dashboard", "set-password"], hermes("command", "dashboard", "set-password")],
  [["supervise"], hold("supervise")],
  [["supervise"], hermes("supervise", "supervise"), { supervised: false }],
];

for (const [words, expected, facts] of ROWS) {
  const more = facts === undefined ? "" : ` with ${JSON.stringify(facts)}`;
  test(`${JSON.stringify(words)} is routed${more}`, async () => {
    assert.deepEqual(await route(words, { ...FACTS, ...facts }), expected);
  });
}

const FRONTS: readonly (readonly string[])[] = [
  ["/init"],
  ["/opt/hermes/docker/entrypoint.sh"],
  ["/opt/hermes/docker/main-wrapper.sh"],
  ["tini"],
  ["tini", "--"],
  ["tini", "-g", "--"],
  ["/usr/bin/tini", "-s", "-v", "-p", "SIGTERM", "-e", "143", "--"],
  ["/usr/bin/tini", "-g", "-w"],
  ["tini", "--", "/init"],
  ["/init", "/opt/hermes/docker/main-wrapper.sh"],
];

for (const front of FRONTS) {
  test(`${front.join(" ")} in front changes nothing`, async () => {
    for (const words of [[], ["sleep", "1"], ["gateway", "run"]])
      assert.deepEqual(await route([...front, ...words], FACTS), await route(words, FACTS));
  });
}

test("dashes behind tini's own belong to the command", async () => {
  assert.deepEqual(
    await route(["tini", "-g", "--", "hermes", "--version"], FACTS),
    hermes("instant", "--version"),
  );
});
