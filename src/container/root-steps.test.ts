// Steps of root in a folder of the test's (container.md §3). Only root can run them.
import assert from "node:assert/strict";
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { Boot } from "./boot.ts";
import { createBootLog } from "./boot-log.ts";
import type { Role } from "./boot-record.ts";
import { type Env, readContainerEnv } from "./environment.ts";
import { rootSteps, runHooks } from "./root-steps.ts";

const options = process.getuid?.() === 0 ? {} : { skip: "needs root" };

interface World {
  readonly boot: Boot;
  readonly dir: string;
  readonly ran: string[];
}

function world(t: TestContext, env: Env = {}, role: Role = "command"): World {
  const dir = tempDir(t);
  const ran: string[] = [];
  writeFileSync(join(dir, "passwd"), "hermes:x:10000:10000::/opt/data:/bin/bash\n");
  writeFileSync(join(dir, "group"), "hermes:x:10000:\n");
  const full = { HERMES_HOME: join(dir, "srv", "deep", "home"), ...env };
  const boot: Boot = {
    env: readContainerEnv(full),
    routing: { role, profile: "default", kind: "program", argv: [] },
    log: createBootLog(false, () => undefined),
    steps: [],
    deps: {
      env: full,
      paths: {
        base: join(dir, "base"),
        runtime: join(dir, "run", "hermes"),
        scandir: join(dir, "run", "service"),
        passwd: join(dir, "passwd"),
        group: join(dir, "group"),
        hooks: join(dir, "boot.d"),
        libexec: "/opt/hermes/libexec",
        compiled: join(dir, "compiled"),
        sockets: [],
      },
      words: [],
      cwd: "/",
      supervised: true,
      version: "1",
      isProgram: () => false,
      isCommand: () => false,
      classify: () => Promise.resolve({ known: false }),
      openLock: () => Promise.resolve(new FakeLock()),
      migrate: () => Promise.resolve(null),
      drainSeconds: () => Promise.resolve(2),
      runHook(path) {
        ran.push(path.slice(dir.length + 1));
        return path.endsWith("bad") ? 7 : 0;
      },
      hide: (given) => given,
    },
  };
  return { boot, dir, ran };
}

test(
  "root gives home and runtime folders to the new numbers; parents stay passable",
  options,
  async (t) => {
    const { boot, dir } = world(t, { HERMES_UID: "99", HERMES_GID: "100" });
    assert.deepEqual(await rootSteps(boot), { uid: 99, gid: 100 });
    assert.match(readFileSync(join(dir, "passwd"), "utf8"), /^hermes:x:99:100:/);
    for (const path of ["srv/deep/home", "run/hermes", "run/service"]) {
      const { uid, gid } = lstatSync(join(dir, path));
      assert.deepEqual([uid, gid], [99, 100], path);
    }
    for (const path of ["srv", "srv/deep"]) {
      const { uid, mode } = lstatSync(join(dir, path));
      assert.deepEqual([uid, mode & 0o777], [0, 0o755], path);
    }
    assert.deepEqual(
      boot.steps.map(({ step }) => step),
      ["R2", "R3", "R4"],
    );
  },
);

test("what only asks for help makes nothing", options, async (t) => {
  const { boot, dir } = world(t, { HERMES_UID: "99" }, "instant");
  assert.deepEqual(await rootSteps(boot), { uid: 10_000, gid: 10_000 });
  assert.throws(() => lstatSync(join(dir, "srv")), { code: "ENOENT" });
  assert.throws(() => lstatSync(join(dir, "run")), { code: "ENOENT" });
});

test("numbers that cannot be written refuse the boot", options, async (t) => {
  const { boot, dir } = world(t, { HERMES_UID: "99" });
  // A folder in place of the group file: its rewrite fails whatever root may do.
  const { group } = boot.deps.paths;
  const broken = { ...boot, deps: { ...boot.deps, paths: { ...boot.deps.paths, group: dir } } };
  await assert.rejects(
    rootSteps(broken),
    (error) => isHermesError(error, "REMAP_FAILED") && error.exit === 78,
  );
  assert.equal(readFileSync(group, "utf8"), "hermes:x:10000:\n");
  assert.match(readFileSync(join(dir, "passwd"), "utf8"), /^hermes:x:10000:/);
});

test(
  "hooks run in name order; what others can write, or own, or is a link's folder, is skipped",
  options,
  (t) => {
    const { boot, dir, ran } = world(t);
    mkdirSync(join(dir, "boot.d", "folder"), { recursive: true });
    for (const name of ["20-b", "10-a", "30-open", "40-foreign"]) {
      writeFileSync(join(dir, "boot.d", name), "");
      chmodSync(join(dir, "boot.d", name), 0o755);
    }
    chmodSync(join(dir, "boot.d", "30-open"), 0o757);
    chownSync(join(dir, "boot.d", "40-foreign"), 4242, 0);
    runHooks(boot);
    assert.deepEqual(ran, ["boot.d/10-a", "boot.d/20-b"]);
    assert.equal(boot.log.warnings.length, 3);
    for (const name of ["30-open", "40-foreign", "folder"])
      assert.ok(
        boot.log.warnings.some((text) => text.includes(`${name} is skipped`)),
        name,
      );
  },
);

test("a hook that fails ends the boot with 1 and its name", options, (t) => {
  const { boot, dir } = world(t);
  mkdirSync(join(dir, "boot.d"));
  writeFileSync(join(dir, "boot.d", "bad"), "");
  assert.throws(
    () => runHooks(boot),
    (error) =>
      isHermesError(error, "BOOT_HOOK") &&
      error.exit === 1 &&
      /bad failed with code 7/.test(error.message),
  );
});

test("no folder of hooks is no hook", options, (t) => {
  const { boot, ran } = world(t);
  runHooks(boot);
  assert.deepEqual([ran, boot.log.warnings], [[], []]);
});
