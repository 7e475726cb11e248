// Readers of container.md §9: whatever a file holds, they answer, with one warning at most.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { otherUid, runAsOther } from "../../test/kit/as-other-user.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import {
  readDesired,
  readLastError,
  readObject,
  readObserved,
  stampOf,
  writeDesired,
} from "./service-files.ts";

function warnings(read: (warn: (text: string) => void) => unknown): {
  readonly value: unknown;
  readonly warned: readonly string[];
} {
  const warned: string[] = [];
  return { value: read((text) => void warned.push(text)), warned };
}

const NONE: readonly (readonly [what: string, bytes: string | Buffer | null, warning: string])[] = [
  ["missing", null, ""],
  ["empty", "", "is not JSON and is ignored"],
  ["malformed", '{"a":', "is not JSON and is ignored"],
  ["cut off", '{"gateway_state":"run', "is not JSON and is ignored"],
  ["binary", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), "is not UTF-8 text and is ignored"],
  ["zeros", Buffer.alloc(64), "is not JSON and is ignored"],
  ["a list", "[]", "is not a JSON object and is ignored"],
  ["a number", "42", "is not a JSON object and is ignored"],
  ["null", "null", "is not a JSON object and is ignored"],
  ["a text", '"running"', "is not a JSON object and is ignored"],
  ["huge", `{"a":"${"x".repeat(1024 * 1024)}"}`, "is larger than 1048576 bytes and is ignored"],
];

for (const [what, bytes, warning] of NONE) {
  test(`a file that is ${what} is none, with ${warning === "" ? "no" : "one"} warning`, (t) => {
    const path = join(tempDir(t), "x.json");
    if (bytes !== null) writeFileSync(path, bytes);
    const expected = warning === "" ? [] : [`${path} ${warning}`];
    assert.deepEqual(
      warnings((warn) => readObject(path, warn)),
      { value: null, warned: expected },
    );
  });
}

test("a folder or a pipe of that name holds nobody up", (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, "folder"));
  assert.equal(spawnSync("mkfifo", [join(dir, "pipe")]).status, 0);
  for (const name of ["folder", "pipe"]) {
    const { value, warned } = warnings((warn) => readObject(join(dir, name), warn));
    assert.equal(value, null);
    assert.equal(warned.length, 1, name);
  }
});

test("what may not be read is told apart", { skip: otherUid === null && "needs uids" }, (t) => {
  const dir = tempDir(t);
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, "x.json"), "{}");
  chmodSync(join(dir, "x.json"), 0);
  const module = new URL("service-files.ts", import.meta.url).href;
  const source = `
    const { readObject } = await import(${JSON.stringify(module)});
    const path = process.argv[1];
    console.log(readObject(path, (text) => console.log(text)));`;
  const { stdout, stderr } = runAsOther(source, [join(dir, "x.json")]);
  assert.equal(stdout, `${join(dir, "x.json")} cannot be read: EACCES\nnull\n`, stderr);
});

test("a byte order mark and unknown keys do no harm", (t) => {
  const path = join(tempDir(t), "x.json");
  writeFileSync(path, '\ufeff{"a":1,"b":{"c":null}}');
  assert.deepEqual(readObject(path), { a: 1, b: { c: null } });
});

const STAMPS: readonly (readonly [value: unknown, ms: number | null])[] = [
  ["2026-05-20T10:11:12.345Z", 1_779_271_872_345],
  ["2026-05-20T10:11:12.345678+00:00", 1_779_271_872_345],
  ["2026-05-20T12:11:12+02:00", 1_779_271_872_000],
  [1_779_271_872, 1_779_271_872_000],
  [1_779_271_872.345, 1_779_271_872_345],
  [0, 0],
  [-1, -1000],
  ["", null],
  ["1", null],
  ["1779271872", null],
  ["yesterday", null],
  ["2026-13-45T99:00:00Z", null],
  [1e300, null],
  [NaN, null],
  [null, null],
  [undefined, null],
  [true, null],
  [{}, null],
];

for (const [value, ms] of STAMPS) {
  test(`the stamp ${JSON.stringify(value)} is ${ms}`, () => assert.equal(stampOf(value), ms));
}

function observed(t: TestContext, fields: unknown): ReturnType<typeof readObserved> {
  const home = tempDir(t);
  writeFileSync(join(home, "gateway_state.json"), JSON.stringify(fields));
  return readObserved(home);
}

test("a record as we write it", (t) => {
  assert.deepEqual(
    observed(t, {
      pid: 52,
      start_time: "123456",
      kind: "hermes-gateway",
      gateway_state: "degraded",
      desired_state: "running",
      exit_reason: null,
      reasons: ["telegram: no answer"],
      active_agents: 2,
      platforms: {
        telegram: { state: "connected", updated_at: "2026-05-20T10:11:12.345Z" },
        api: { state: "error", error_code: "taken", error_message: "port", updated_at: 1.5 },
      },
      updated_at: "2026-05-20T10:11:12.345Z",
      unheard_of: 1,
    }),
    {
      pid: 52,
      startTime: "123456",
      state: "degraded",
      desired: "running",
      exitReason: null,
      reasons: ["telegram: no answer"],
      platforms: {
        telegram: {
          state: "connected",
          error_code: null,
          error_message: null,
          updated_at: "2026-05-20T10:11:12.345Z",
        },
        api: {
          state: "error",
          error_code: "taken",
          error_message: "port",
          updated_at: "1970-01-01T00:00:01.500Z",
        },
      },
      activeAgents: 2,
      updatedAt: 1_779_271_872_345,
    },
  );
});

test("fields of other types are as if they were not there", (t) => {
  const nothing = {
    pid: null,
    startTime: null,
    state: null,
    desired: null,
    exitReason: null,
    reasons: [],
    platforms: {},
    activeAgents: 0,
    updatedAt: null,
  };
  assert.deepEqual(observed(t, {}), nothing);
  const garbage = {
    pid: "52",
    start_time: {},
    gateway_state: 3,
    desired_state: "dancing",
    exit_reason: 4,
    reasons: "x",
    platforms: [1],
    active_agents: -1,
    updated_at: "soon",
  };
  assert.deepEqual(observed(t, garbage), nothing);
  const deeper = { pid: 1.5, reasons: [1, null], platforms: { a: null, b: 3, c: { state: 1 } } };
  assert.deepEqual(observed(t, deeper), nothing);
});

test("a start time that is a number is that of the older version", (t) => {
  assert.equal(observed(t, { start_time: 123_456 })?.startTime, "123456");
});

test("a wish is written whole, read back, and keeps what others wrote", (t) => {
  const home = tempDir(t);
  assert.equal(readDesired(home), null);
  const path = join(home, "gateway_desired.json");
  writeFileSync(path, '{"desired":"stopped","note":"mine"}');
  writeDesired(home, { desired: "running", by: "gateway start", source: "cli" }, 1_779_271_872_345);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), {
    desired: "running",
    note: "mine",
    schema: 1,
    by: "gateway start",
    source: "cli",
    at: "2026-05-20T10:11:12.345Z",
  });
  assert.equal(statSync(path).mode & 0o777, 0o644);
  assert.deepEqual(readDesired(home), {
    desired: "running",
    by: "gateway start",
    source: "cli",
    at: "2026-05-20T10:11:12.345Z",
  });
  assert.deepEqual(readdirSync(home), ["gateway_desired.json"]);
});

test("a wish that is neither is none; one that says no more than itself is one", (t) => {
  const home = tempDir(t);
  const write = (text: string): void => writeFileSync(join(home, "gateway_desired.json"), text);
  for (const text of ['{"desired":"paused"}', '{"desired":1}', "{}"]) {
    write(text);
    assert.equal(readDesired(home), null, text);
  }
  write('{"desired":"stopped","at":5,"by":null}');
  assert.deepEqual(readDesired(home), { desired: "stopped", at: null, by: null, source: null });
});

test("a wish that cannot be written is the caller's to hear of", (t) => {
  const home = join(tempDir(t), "gone");
  const wish = { desired: "running", by: "x", source: "cli" } as const;
  assert.throws(() => writeDesired(home, wish, 0), { code: "ENOENT" });
});

test("the last refusal needs a message, the rest may lack", (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, "data"));
  const write = (fields: unknown): void =>
    writeFileSync(join(dir, "data", "last_error.json"), JSON.stringify(fields));
  assert.equal(readLastError(dir), null);
  write({ code: "X" });
  assert.equal(readLastError(dir), null);
  write({ message: "no", ways_out: ["a", 1, null, "b"], pid: -4 });
  assert.deepEqual(readLastError(dir), {
    code: "UNKNOWN",
    message: "no",
    ways_out: ["a", "b"],
    setting: null,
    at: "",
    pid: 0,
  });
});
