// Units as systemd reads them (container.md §7.4): names, content, words that could be taken for its own syntax.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { SlotId } from "../slot-name.ts";
import {
  listUnits,
  parseUnitName,
  renderUnit,
  unitDirectory,
  type UnitLayout,
  unitName,
  whoseUnit,
} from "./unit.ts";

const LAYOUT: UnitLayout = {
  directory: "/home/a/.config/systemd/user",
  program: ["/usr/bin/node", "/opt/hermes/bin/hermes.mjs"],
  root: "/home/a/.hermes",
  path: "/usr/bin:/bin",
};
const DEFAULT: SlotId = { kind: "gateway", profile: "default" };
const CODER: SlotId = { kind: "gateway", profile: "coder" };
const DASHBOARD: SlotId = { kind: "dashboard", profile: "default" };

const NAMES: readonly (readonly [name: string, id: SlotId])[] = [
  ["hermes-gateway.service", DEFAULT],
  ["hermes-gateway-coder.service", CODER],
  ["hermes-gateway-gateway.service", { kind: "gateway", profile: "gateway" }],
  ["hermes-dashboard.service", DASHBOARD],
];

for (const [name, id] of NAMES) {
  test(`${name} and back`, () => {
    assert.equal(unitName(id), name);
    assert.deepEqual(parseUnitName(name), id);
  });
}

const FOREIGN = [
  "hermes-gateway-default.service",
  "hermes-gateway-.service",
  "hermes-gateway-A.service",
  "hermes-gateway-a.timer",
  "hermes-gateway-a@.service",
  "hermes.service",
  "gateway.service",
  "",
];

for (const name of FOREIGN) {
  test(`${JSON.stringify(name)} is no unit of ours`, () => assert.equal(parseUnitName(name), null));
}

test("a unit follows s6's rules of ends in systemd's words", () => {
  assert.equal(
    renderUnit(CODER, LAYOUT),
    `[Unit]
Description=Hermes gateway, profile coder
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/env "/usr/bin/node" "/opt/hermes/bin/hermes.mjs" "-p" "coder" "gateway" "run" "--no-supervise"
Environment="HERMES_HOME=/home/a/.hermes"
Environment="HERMES_SLOT=gateway-coder"
Environment="PATH=/usr/bin:/bin"
Restart=always
RestartSec=1
SuccessExitStatus=75
RestartPreventExitStatus=0 64 78
TimeoutStopSec=10

[Install]
WantedBy=default.target
`,
  );
  assert.match(renderUnit(DASHBOARD, LAYOUT), /hermes\.mjs" "dashboard" "--no-open"\n/u);
});

const ODD = `/home/it's "one" 100% $HOME \\n`;

test("no word of ours is syntax to systemd", () => {
  const program = ["/usr/bin/node", `${ODD}/hermes.mjs`];
  const text = renderUnit(DEFAULT, { ...LAYOUT, program, root: `${ODD}\n\t` });
  const [exec = "", home = ""] = text.split("\n").slice(5);
  assert.ok(exec.includes(`"/home/it's \\"one\\" 100%% $$HOME \\\\n/hermes.mjs"`), exec);
  // Nothing expands a variable in an assignment.
  assert.equal(home, `Environment="HERMES_HOME=/home/it's \\"one\\" 100%% $HOME \\\\n\\n\\t"`);
});

const noAnalyze = existsSync("/usr/bin/systemd-analyze") ? false : "systemd is not installed";

test("systemd finds nothing to say about it", { skip: noAnalyze }, (t) => {
  const folder = join(tempDir(t), `it's 100% $HOME`);
  mkdirSync(folder);
  const program = [join(folder, "node"), join(folder, "hermes.mjs")];
  writeFileSync(program[0] ?? "", "#!/bin/sh\n");
  chmodSync(program[0] ?? "", 0o755);
  const path = join(folder, "..", unitName(CODER));
  writeFileSync(path, renderUnit(CODER, { ...LAYOUT, program, root: folder }));
  const end = spawnSync("systemd-analyze", ["--user", "verify", path], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder, XDG_RUNTIME_DIR: folder },
  });
  const ours = end.stderr.split("\n").filter((line) => line.includes("hermes-gateway"));
  assert.deepEqual(ours, []);
  assert.equal(end.status, 0, end.stderr);
});

test("the folder is the one where the user's systemd looks", () => {
  assert.equal(unitDirectory({ HOME: "/home/a" }), "/home/a/.config/systemd/user");
  const both = { HOME: "/home/a", XDG_CONFIG_HOME: "/cfg" };
  assert.equal(unitDirectory(both), "/cfg/systemd/user");
  assert.equal(unitDirectory({ ...both, XDG_CONFIG_HOME: "" }), "/home/a/.config/systemd/user");
});

test("a unit belongs to the home that it names", (t) => {
  const layout = { ...LAYOUT, directory: join(tempDir(t), "user") };
  assert.deepEqual(listUnits(layout), []);
  mkdirSync(layout.directory);
  assert.equal(whoseUnit(layout, CODER), "none");
  const write = (id: SlotId, text: string): void =>
    writeFileSync(join(layout.directory, unitName(id)), text);
  write(CODER, renderUnit(CODER, layout));
  write(DEFAULT, renderUnit(DEFAULT, { ...layout, root: "/home/b/.hermes" }));
  write(DASHBOARD, renderUnit(DASHBOARD, layout));
  write({ kind: "gateway", profile: "hand" }, "[Service]\nExecStart=/bin/true\n");
  writeFileSync(join(layout.directory, "other.service"), renderUnit(CODER, layout));
  assert.equal(whoseUnit(layout, CODER), "ours");
  assert.equal(whoseUnit(layout, DEFAULT), "foreign");
  assert.deepEqual(listUnits(layout), [DASHBOARD, CODER]);
});
