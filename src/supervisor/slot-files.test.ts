// The files of a slot (container.md §6.1).
import assert from "node:assert/strict";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { SlotSpec } from "./port.ts";
import { beginAnew, readAsked, readSlotSpec, writeSlotFiles } from "./slot-files.ts";

const LAYOUT = { libexec: "/opt/hermes/libexec", timeoutKillMs: 5000 };
const SPEC: SlotSpec = {
  schema: 1,
  kind: "gateway",
  profile: "coder",
  home: "/opt/data/profiles/it's one",
  enabled: true,
};

function contents(dir: string): Readonly<Record<string, string>> {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const found = lstatSync(join(dir, name));
      if (found.isSymbolicLink()) return [name, `→ ${readlinkSync(join(dir, name))}`];
      return [name, found.isDirectory() ? "/" : readFileSync(join(dir, name), "utf8")];
    }),
  );
}

for (const down of [true, false]) {
  test(`a slot that ${down ? "waits" : "starts"} has these entries and no others`, (t) => {
    const dir = join(tempDir(t), "slot");
    writeSlotFiles(dir, SPEC, LAYOUT, down);
    assert.deepEqual(contents(dir), {
      data: "/",
      "data/spec.json": `${JSON.stringify(SPEC)}\n`,
      ...(down ? { down: "" } : {}),
      finish: "→ /opt/hermes/libexec/slot/finish",
      "flag-timeout-killpg": "",
      log: "/",
      "log/notification-fd": "3\n",
      "log/run": "→ /opt/hermes/libexec/slot/log-run",
      "notification-fd": "3\n",
      run: "→ /opt/hermes/libexec/slot/run",
      "timeout-kill": "5000\n",
    });
    assert.deepEqual(readSlotSpec(dir), SPEC);
  });
}

test("it is written nowhere where something is already", (t) => {
  const dir = tempDir(t);
  assert.throws(() => writeSlotFiles(dir, SPEC, LAYOUT, false), { code: "EEXIST" });
  assert.deepEqual(readdirSync(dir), []);
});

const NONE: readonly string[] = [
  "",
  "null",
  "[]",
  "1",
  "{",
  JSON.stringify({ ...SPEC, schema: 2 }),
  JSON.stringify({ ...SPEC, kind: "cron" }),
  JSON.stringify({ ...SPEC, profile: null }),
  JSON.stringify({ ...SPEC, home: undefined }),
  JSON.stringify({ ...SPEC, enabled: "no" }),
];

test("a spec that is not ours is none", (t) => {
  const dir = tempDir(t);
  assert.equal(readSlotSpec(dir), null);
  mkdirSync(join(dir, "data"));
  for (const text of NONE) {
    writeFileSync(join(dir, "data", "spec.json"), text);
    assert.equal(readSlotSpec(dir), null, text);
  }
});

test("the delay of earlier deaths is forgotten, also where there is none", (t) => {
  const dir = tempDir(t);
  beginAnew(dir, 1);
  assert.equal(readAsked(dir), null);
  mkdirSync(join(dir, "data"));
  writeFileSync(join(dir, "data", "backoff"), "3 99999\n");
  writeFileSync(join(dir, "data", "started"), "1\n");
  beginAnew(dir, 1_796_098_100_000);
  assert.deepEqual(readdirSync(join(dir, "data")).sort(), ["asked", "started"]);
  assert.equal(readAsked(dir), 1_796_098_100_000);
});

for (const text of ["", "x", "-1", "1.5", "99999999999999999999", "1 2"]) {
  test(`${JSON.stringify(text)} is no time of a start`, (t) => {
    const dir = tempDir(t);
    mkdirSync(join(dir, "data"));
    writeFileSync(join(dir, "data", "asked"), text);
    assert.equal(readAsked(dir), null);
  });
}
