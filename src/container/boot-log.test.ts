import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { appendProfileLines, createBootLog, type ProfileLine, profileLine } from "./boot-log.ts";

const AT = new Date("2026-05-20T10:11:12.987Z");
const LINE: ProfileLine = {
  profile: "default",
  priorState: "running",
  action: "started",
  desired: "running",
  reason: "desired",
};

test("the line of a profile has its exact form", () => {
  assert.equal(
    profileLine(LINE, AT),
    "2026-05-20T10:11:12+0000 profile=default prior_state=running action=started desired=running reason=desired\n",
  );
});

test("what is absent reads none", () => {
  assert.equal(
    profileLine({ ...LINE, priorState: null, desired: null, action: "missing" }, AT),
    "2026-05-20T10:11:12+0000 profile=default prior_state=none action=missing desired=none reason=desired\n",
  );
});

test("names and states of files make up no words and no lines", () => {
  const line = profileLine(
    { ...LINE, profile: "x\nprofile=default action=started", priorState: "a b" },
    AT,
  );
  assert.equal(line.split("\n").length, 2);
  assert.match(line, /^\S+ profile=x\?profile\?default\?action\?started prior_state=a\?b action=/);
});

function logs(t: TestContext): { readonly home: string; readonly path: string } {
  const home = tempDir(t);
  mkdirSync(join(home, "logs"));
  return { home, path: join(home, "logs", "container-boot.log") };
}

test("lines are appended, all of a boot at once", (t) => {
  const { home, path } = logs(t);
  appendProfileLines(home, [LINE, { ...LINE, profile: "coder" }], AT);
  appendProfileLines(home, [LINE], AT);
  const words = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ")[1]);
  assert.deepEqual(words, ["profile=default", "profile=coder", "profile=default"]);
});

for (const [size, isRotated] of [
  [256 * 1024 - 1, false],
  [256 * 1024, true],
] as const) {
  test(`a log of ${size} bytes is ${isRotated ? "put aside" : "continued"}`, (t) => {
    const { home, path } = logs(t);
    writeFileSync(path, "x".repeat(size));
    appendProfileLines(home, [LINE], AT);
    assert.equal(existsSync(`${path}.1`), isRotated);
    const text = readFileSync(path, "utf8");
    assert.equal(text.length, profileLine(LINE, AT).length + (isRotated ? 0 : size));
  });
}

test("a rotation that fails does not keep the line out", (t) => {
  const { home, path } = logs(t);
  writeFileSync(path, "x".repeat(256 * 1024));
  mkdirSync(join(`${path}.1`, "in-the-way"), { recursive: true });
  appendProfileLines(home, [LINE], AT);
  assert.ok(readFileSync(path, "utf8").endsWith("reason=desired\n"));
});

test("warnings and errors are always said and kept; information only where it is shown", () => {
  for (const showInfo of [true, false]) {
    const lines: string[] = [];
    const log = createBootLog(showInfo, (line) => lines.push(line));
    log.info("one");
    log.warn("two\n  more");
    log.error("three");
    assert.deepEqual(lines, [
      ...(showInfo ? ["[boot] info one\n"] : []),
      "[boot] warn two; more\n",
      "[boot] error three\n",
    ]);
    assert.deepEqual(log.warnings, ["two\n  more", "three"]);
  }
});
