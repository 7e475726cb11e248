// Setup from end to end in a folder, as a user who is not root (container.md §3, §2.8).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { otherUid } from "../../test/kit/as-other-user.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { readBootRecord } from "./boot-record.ts";

const FIXTURE = new URL("../../test/fixtures/container/prepare-as-user.ts", import.meta.url);

interface Boot {
  readonly dir: string;
  readonly home: string;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  state(name: string): string | null;
}

interface Wish {
  readonly env?: Readonly<Record<string, string>>;
  readonly supervised?: boolean;
  prepare?(dir: string): void;
}

function boot(t: TestContext, words: readonly string[], wish: Wish = {}): Boot {
  const dir = tempDir(t);
  mkdirSync(join(dir, "base", "state"), { recursive: true });
  for (const path of [".", "base/state"]) chmodSync(join(dir, path), 0o777);
  wish.prepare?.(dir);
  const home = join(dir, "home");
  if (!existsSync(home)) {
    mkdirSync(home);
    chmodSync(home, 0o777);
  }
  const ids = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const env = JSON.stringify({ HERMES_HOME: home, ...wish.env });
  const supervised = wish.supervised === false ? "no" : "yes";
  const end = spawnSync(process.execPath, [FIXTURE.pathname, dir, supervised, env, ...words], {
    ...ids,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
    timeout: 60_000,
  });
  const state = (name: string): string | null => {
    const path = join(dir, "base", "state", name);
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  };
  return { dir, home, code: end.status, stdout: end.stdout, stderr: end.stderr, state };
}

const log = (home: string): string =>
  readFileSync(join(home, "logs", "container-boot.log"), "utf8");

test("a program: command and limits rendered, volume set up, slots written, all recorded", (t) => {
  const { dir, home, code, stdout, stderr, state } = boot(t, ["sleep", "it's s3cret"], {
    env: { HERMES_DASHBOARD: "1", HERMES_STOP_GRACE: "30" },
  });
  assert.equal(stderr, "");
  assert.equal(stdout, "");
  assert.equal(code, 0);
  assert.equal(state("cmd"), `cd '${dir}' 2>/dev/null\nexec 'sleep' 'it'\\''s s3cret'\n`);
  assert.equal(state("limits"), "260 27000\n");
  assert.equal(state("noslots"), null);
  assert.deepEqual(readdirSync(join(dir, "run", "service")).sort(), [
    ".tee",
    "dashboard",
    "gateway-default",
  ]);
  assert.match(log(home), /^\S+ profile=default prior_state=none action=registered desired=none/);
  const record = readBootRecord(join(dir, "run", "hermes", "boot.json"));
  assert.equal(record?.role, "command");
  assert.equal(record.uid, otherUid);
  assert.equal(record.stop_grace, 30);
  assert.deepEqual(record.argv, ["sleep", "it's ***"]);
  assert.deepEqual(record.warnings, []);
  assert.deepEqual(
    [...new Set(record.steps.map(({ step }) => step))],
    ["R1", "R5", "R7", "H0", "H1", "H2", "H3", "H4", "H5", "H6", "H7", "H9"],
  );
});

test("what asks for version or help leaves the volume as it is", (t) => {
  for (const words of [["--version"], ["chat", "--help"], ["nosuch"]]) {
    const { dir, home, code, state } = boot(t, words);
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(home), []);
    assert.equal(existsSync(join(dir, "run")), false);
    assert.equal(state("noslots"), "");
    assert.match(state("cmd") ?? "", /^cd .*\nexec '\/opt\/hermes\/bin\/hermes' '/);
  }
});

test("a word that is nothing is said to be neither command nor program", (t) => {
  const { stderr } = boot(t, ["nosuch"]);
  assert.equal(
    stderr,
    '[boot] error "nosuch" is neither a command of hermes nor a program on PATH\n',
  );
});

test("gateway run is handed over: one line, and the command only holds the container", (t) => {
  const { dir, home, code, stderr, state } = boot(t, ["gateway", "run"]);
  assert.equal(code, 0);
  assert.match(state("cmd") ?? "", /exec '\/opt\/hermes\/libexec\/hold'\n$/);
  assert.equal(
    stderr
      .split("\n")
      .filter((line) => line.startsWith("hermes: "))
      .join("\n"),
    `hermes: the gateway of default runs under s6 supervision. Log ${home}/logs/gateways/default/current; --no-supervise keeps it in the foreground.`,
  );
  assert.equal(existsSync(join(dir, "run", "service", "gateway-default", "down")), false);
  assert.match(log(home), /action=started desired=running reason=command/);
});

test("a stop that somebody asked for is respected, and said with its time", (t) => {
  const { dir, code, stderr } = boot(t, ["gateway", "run"], {
    prepare(root) {
      mkdirSync(join(root, "home"));
      chmodSync(join(root, "home"), 0o777);
      const record = { schema: 1, desired: "stopped", at: "2026-05-20T10:11:12.000Z" };
      writeFileSync(join(root, "home", "gateway_desired.json"), JSON.stringify(record));
    },
  });
  assert.equal(code, 0);
  assert.match(
    stderr,
    /was stopped at 2026-05-20T10:11:12\.000Z and stays down under s6 supervision\. Start it: hermes gateway start\./,
  );
  assert.ok(existsSync(join(dir, "run", "service", "gateway-default", "down")));
});

test("gateway run of no profile ends with 66 and the real ones", (t) => {
  const { code, stderr } = boot(t, ["-p", "ghost", "gateway", "run"]);
  assert.equal(code, 66);
  assert.match(stderr, /\[boot\] error There is no profile "ghost"\. There are: default\./);
});

test("gateway run kept out by HERMES_GATEWAY_PROFILES says that it stays down", (t) => {
  const { code, stderr } = boot(t, ["gateway", "run"], {
    env: { HERMES_GATEWAY_PROFILES: "none" },
  });
  assert.equal(code, 0);
  assert.match(stderr, /hermes: the gateway of default stays down under s6 supervision/);
});

test("behind another init one warning names supervise, and nothing is said to start", (t) => {
  const { home, code, stderr, state } = boot(t, ["gateway", "run"], {
    supervised: false,
    env: { HERMES_DASHBOARD: "1" },
  });
  assert.equal(code, 0);
  const warnings = stderr.split("\n").filter((line) => line.includes("another init"));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /HERMES_DASHBOARD starts nothing here, .*supervise/);
  assert.match(state("cmd") ?? "", /bin\/hermes' 'gateway' 'run'\n$/);
  assert.match(log(home), /action=registered .* reason=foreground/);
});

test("behind another init supervise writes its slots itself", (t) => {
  const { dir, code, state } = boot(t, ["supervise"], { supervised: false });
  assert.equal(code, 0);
  assert.equal(existsSync(join(dir, "run", "service")), false);
  assert.match(state("cmd") ?? "", /bin\/hermes' 'supervise'\n$/);
});

test("bad settings end setup with 78 in one line, before anything is written", (t) => {
  const { home, code, stderr, state } = boot(t, ["sleep", "1"], {
    env: { HERMES_UID: "0", HERMES_STOP_GRACE: "x" },
  });
  assert.equal(code, 78);
  assert.equal(stderr.trimEnd().split("\n").length, 1);
  assert.match(stderr, /^\[boot\] error .*HERMES_UID=0 .*HERMES_STOP_GRACE=x /);
  assert.deepEqual(readdirSync(home), []);
  assert.equal(state("cmd"), null);
});

test("without root the numbers of an owner are ignored, out loud", (t) => {
  const { code, stderr } = boot(t, ["sleep", "1"], { env: { HERMES_UID: "99" } });
  assert.equal(code, 0);
  assert.equal(
    stderr,
    "[boot] warn HERMES_UID and HERMES_GID are ignored: the container was not started as root\n",
  );
});

test("a volume that takes no writes ends with 78 and its path", (t) => {
  const { home, code, stderr } = boot(t, ["sleep", "1"], {
    prepare(root) {
      mkdirSync(join(root, "home"));
      chmodSync(join(root, "home"), 0o555);
    },
  });
  assert.equal(code, 78);
  assert.ok(
    stderr.startsWith(`[boot] error ${home} cannot be written as uid ${otherUid}: EACCES.`),
  );
});

test("a place for services that takes no writes ends with 1", (t) => {
  const { code, stderr } = boot(t, ["sleep", "1"], {
    prepare(root) {
      mkdirSync(join(root, "run", "hermes"), { recursive: true });
      chmodSync(join(root, "run", "hermes"), 0o777);
      mkdirSync(join(root, "run", "service"));
      chmodSync(join(root, "run", "service"), 0o555);
    },
  });
  assert.equal(code, 1);
  assert.match(stderr, /^\[boot\] error .*service cannot be written: .*--tmpfs \/run/);
});

test("a drain longer than the slot's time is warned of with both numbers", (t) => {
  const { stderr } = boot(t, ["sleep", "1"], { env: { HERMES_STOP_GRACE: "8" } });
  assert.match(
    stderr,
    /warn agent\.restart_drain_timeout is 2 s, but HERMES_STOP_GRACE=8 leaves 1 s/,
  );
});

for (const [words, env, tees] of [
  [["sleep", "1"], {}, true],
  [["sleep", "1"], { HERMES_LOG_NO_TEE: "1" }, false],
  [["chat", "-q", "hi"], {}, false],
  [["gateway", "run"], {}, true],
  [[], {}, true],
] as const) {
  test(`logs of services ${tees ? "go" : "do not go"} to the output of "${words.join(" ")}" ${JSON.stringify(env)}`, (t) => {
    const { dir } = boot(t, words, { env });
    assert.equal(existsSync(join(dir, "run", "service", ".tee")), tees);
  });
}
