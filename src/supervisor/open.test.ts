import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { isImage, libexecOf, openManager, scandirOf, timeoutKillMs } from "./open.ts";

const SCANDIRS: readonly (readonly [given: string | undefined, project: string, path: string])[] = [
  [undefined, "/opt/hermes", "/run/service"],
  [undefined, "/src/hermes", "/opt/data/run/service"],
  ["", "/src/hermes", "/opt/data/run/service"],
  ["/scan", "/opt/hermes", "/scan"],
  ["/scan", "/src/hermes", "/scan"],
];

for (const [given, project, path] of SCANDIRS) {
  test(`with HERMES_SCANDIR ${given ?? "unset"} ${project} has its slots in ${path}`, () => {
    assert.equal(scandirOf({ env: { HERMES_SCANDIR: given }, root: "/opt/data", project }), path);
  });
}

test("the scripts of slots lie in the install tree, or in what becomes it", () => {
  assert.equal(libexecOf({ project: "/opt/hermes" }), "/opt/hermes/libexec");
  assert.equal(libexecOf({ project: "/src" }), "/src/docker/rootfs/opt/hermes/libexec");
  assert.deepEqual([isImage("/opt/hermes"), isImage("/src")], [true, false]);
});

const GRACES: readonly (readonly [grace: string | undefined, ms: number])[] = [
  [undefined, 5000],
  ["", 5000],
  ["10", 5000],
  ["4", 1000],
  ["6", 1000],
  ["7", 2000],
  ["30", 25_000],
  ["3600", 3_595_000],
  // Setup refuses these; what runs without it takes the default.
  ["3", 5000],
  ["3601", 5000],
  ["-1", 5000],
  ["5.5", 5000],
  ["x", 5000],
];

for (const [grace, ms] of GRACES) {
  test(`a stop grace of ${grace ?? "nothing"} leaves a slot ${ms} ms`, () => {
    assert.equal(timeoutKillMs(grace), ms);
  });
}

test("where nothing supervises the manager registers nothing", (t) => {
  const options = { env: {}, root: tempDir(t), project: "/src", lock: new FakeLock() };
  const { kind, canRegister, scandir, label } = openManager(options);
  assert.deepEqual(
    { kind, canRegister, scandir, label },
    { kind: "none", canRegister: false, scandir: null, label: "none" },
  );
});
