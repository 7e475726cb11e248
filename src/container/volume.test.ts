import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { HOME_FILES, HOME_FOLDERS } from "#profile/home.ts";
import { otherUid, runAsOther } from "../../test/kit/as-other-user.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { createBootLog } from "./boot-log.ts";
import { type Env, readContainerEnv } from "./environment.ts";
import {
  dropStaleMethod,
  makeFolders,
  probeVolume,
  seedAuth,
  seedFiles,
  seedGatewayState,
} from "./volume.ts";

const quiet = (): ReturnType<typeof createBootLog> => createBootLog(false, () => undefined);
const mode = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

/** All steps, as a boot does them. */
function setUp(home: string, env: Env = {}): readonly string[] {
  const log = quiet();
  const read = readContainerEnv({ ...env, HERMES_HOME: home });
  makeFolders(read, log);
  dropStaleMethod(home, log);
  seedFiles(home, log);
  seedAuth(home, env, log);
  seedGatewayState(read, log);
  return log.warnings;
}

test("a blank volume becomes a home; a second time changes nothing", (t) => {
  const home = tempDir(t);
  assert.deepEqual(setUp(home), []);
  for (const [name, wanted] of [...HOME_FOLDERS, ...HOME_FILES, ["dashboard", 0o700] as const])
    assert.equal(mode(join(home, name)), wanted.toString(8), name);
  for (const path of ["logs/gateways", "logs/dashboard"])
    assert.ok(statSync(join(home, path)).isDirectory());
  const all = (): readonly string[] =>
    (readdirSync(home, { recursive: true }) as string[]).sort().map((path) => {
      const { mtimeMs, ctimeMs, ino } = lstatSync(join(home, path));
      return `${path} ${mtimeMs} ${ctimeMs} ${ino}`;
    });
  const before = all();
  assert.deepEqual(setUp(home), []);
  assert.deepEqual(all(), before);
});

test("what is there stays: text, modes of folders", (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "SOUL.md"), "mine");
  writeFileSync(join(home, "config.yaml"), "model: {");
  mkdirSync(join(home, "logs"));
  chmodSync(join(home, "logs"), 0o777);
  assert.deepEqual(setUp(home), []);
  assert.equal(readFileSync(join(home, "SOUL.md"), "utf8"), "mine");
  assert.equal(readFileSync(join(home, "config.yaml"), "utf8"), "model: {");
  assert.equal(mode(join(home, "logs")), "777");
});

test("secrets become their owner's alone at each boot", (t) => {
  const home = tempDir(t);
  for (const name of [".env", "auth.json"]) {
    writeFileSync(join(home, name), "{}");
    chmodSync(join(home, name), 0o644);
  }
  assert.deepEqual(setUp(home), []);
  for (const name of [".env", "auth.json"]) assert.equal(mode(join(home, name)), "600");
});

test("the mode of the home is forced only when asked for", (t) => {
  const home = tempDir(t);
  chmodSync(home, 0o711);
  setUp(home);
  assert.equal(mode(home), "711");
  setUp(home, { HERMES_HOME_MODE: "0755" });
  assert.equal(mode(home), "755");
});

const LINKS: readonly (readonly [name: string, env?: Env])[] = [
  ["logs"],
  ["memories"],
  ["dashboard"],
  [".env"],
  ["SOUL.md"],
  ["config.yaml"],
  ["auth.json", { HERMES_AUTH_JSON_BOOTSTRAP: "{}" }],
  ["gateway_state.json", { HERMES_GATEWAY_BOOTSTRAP_STATE: "running" }],
];

for (const [name, env] of LINKS) {
  test(`a dangling link ${name} is refused by path and not written through`, (t) => {
    const [home, outside] = [tempDir(t), tempDir(t)];
    symlinkSync(join(outside, "target"), join(home, name));
    const warnings = setUp(home, env);
    assert.ok(
      warnings.some((text) => text.includes("refusing") && text.includes(join(home, name))),
      warnings.join("\n"),
    );
    assert.deepEqual(readdirSync(outside), []);
    assert.ok(lstatSync(join(home, name)).isSymbolicLink());
    // One bad entry keeps no other step back.
    assert.ok(existsSync(join(home, "workspace")));
  });
}

test("a link to a folder elsewhere gets nothing put into it", (t) => {
  const [home, outside] = [tempDir(t), tempDir(t)];
  symlinkSync(outside, join(home, "logs"));
  assert.match(setUp(home).join("\n"), /refusing to use .*logs: it is a link/);
  assert.deepEqual(readdirSync(outside), []);
});

test("a link to an existing file is neither replaced nor written, nor is its mode changed", (t) => {
  const [home, outside] = [tempDir(t), tempDir(t)];
  const target = join(outside, "victim");
  writeFileSync(target, "as it was");
  chmodSync(target, 0o644);
  for (const name of [".env", "auth.json", "gateway_state.json"])
    symlinkSync(target, join(home, name));
  const warnings = setUp(home, {
    HERMES_AUTH_JSON_BOOTSTRAP: "{}",
    HERMES_GATEWAY_BOOTSTRAP_STATE: "running",
  });
  assert.equal(readFileSync(target, "utf8"), "as it was");
  assert.equal(mode(target), "644");
  for (const name of [".env", "auth.json", "gateway_state.json"])
    assert.ok(
      warnings.some((text) => text.includes("refusing") && text.includes(name)),
      name,
    );
});

test("a mark of the image in the volume goes, another's stays", (t) => {
  const home = tempDir(t);
  const path = join(home, ".install_method");
  for (const [text, stays] of [
    ["docker\n", false],
    ["npm\n", true],
  ] as const) {
    writeFileSync(path, text);
    setUp(home);
    assert.equal(existsSync(path), stays, text);
  }
});

const AUTH: readonly (readonly [text: string, isUsed: boolean])[] = [
  ['{"a":1}', true],
  ["{}", true],
  ["[]", false],
  ["null", false],
  ['"text"', false],
  ['{"a":', false],
];

for (const [text, isUsed] of AUTH) {
  test(`auth.json ${isUsed ? "is made from" : "is not made from"} ${text}`, (t) => {
    const home = tempDir(t);
    const warnings = setUp(home, { HERMES_AUTH_JSON_BOOTSTRAP: text });
    const path = join(home, "auth.json");
    assert.equal(existsSync(path), isUsed);
    if (isUsed) assert.equal(`${readFileSync(path, "utf8")} ${mode(path)}`, `${text} 600`);
    else
      assert.deepEqual(warnings, [
        "HERMES_AUTH_JSON_BOOTSTRAP is not a JSON object and is not used",
      ]);
  });
}

test("auth.json is made once, and from a file without its last newline", (t) => {
  const home = tempDir(t);
  const path = join(tempDir(t), "secret");
  writeFileSync(path, '{"first":1}\n');
  setUp(home, { HERMES_AUTH_JSON_BOOTSTRAP_FILE: path });
  setUp(home, { HERMES_AUTH_JSON_BOOTSTRAP: '{"second":1}' });
  assert.equal(readFileSync(join(home, "auth.json"), "utf8"), '{"first":1}');
});

test("both forms at once, or a file that is not there, refuse the boot", (t) => {
  const home = tempDir(t);
  const cases: readonly (readonly [Env, string])[] = [
    [
      { HERMES_AUTH_JSON_BOOTSTRAP: "{}", HERMES_AUTH_JSON_BOOTSTRAP_FILE: "/x" },
      "ENV_FILE_AND_VALUE",
    ],
    [{ HERMES_AUTH_JSON_BOOTSTRAP_FILE: join(home, "none") }, "SECRET_FILE_UNREADABLE"],
  ];
  for (const [env, code] of cases) {
    assert.throws(
      () => setUp(home, env),
      (error) => isHermesError(error, code) && error.exit === 78 && error.setting !== null,
    );
  }
});

for (const [state, content] of [
  ["running", '{"gateway_state":"running"}\n'],
  ["stopped", null],
  ["Running", null],
] as const) {
  test(`a bootstrap state ${state} ${content === null ? "seeds nothing" : "seeds a running gateway"}`, (t) => {
    const home = tempDir(t);
    setUp(home, { HERMES_GATEWAY_BOOTSTRAP_STATE: state });
    const path = join(home, "gateway_state.json");
    assert.equal(existsSync(path) ? readFileSync(path, "utf8") : null, content);
  });
}

test("an existing state is never seeded over", (t) => {
  const home = tempDir(t);
  const path = join(home, "gateway_state.json");
  writeFileSync(path, '{"gateway_state":"stopped"}');
  setUp(home, { HERMES_GATEWAY_BOOTSTRAP_STATE: "running" });
  assert.equal(readFileSync(path, "utf8"), '{"gateway_state":"stopped"}');
});

test("a writable volume is probed without a trace, after a killed boot too", (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, `.hermes-write-probe.${process.pid}`), "");
  probeVolume(home);
  assert.deepEqual(readdirSync(home), []);
});

for (const [what, bits] of [
  ["not writable", 0o555],
  ["not to be entered", 0o600],
] as const) {
  test(`a volume that is ${what} is refused with path, owner, mode and uid`, (t) => {
    const home = tempDir(t);
    chmodSync(home, bits);
    const volume = new URL("volume.ts", import.meta.url).href;
    const { stdout, stderr } = runAsOther(
      `const { probeVolume } = await import(${JSON.stringify(volume)});
       try { probeVolume(process.argv[1]); } catch (error) {
         console.log([error.code, error.exit, error.message].join("|"));
       }`,
      [home],
    );
    assert.equal(stderr, "");
    const owner = `${process.getuid?.()}:${process.getgid?.()}`;
    assert.equal(
      stdout,
      `VOLUME_NOT_WRITABLE|78|${home} cannot be written as uid ${otherUid}: EACCES. It belongs to ${owner}, mode ${bits.toString(8)}.\n`,
    );
  });
}
