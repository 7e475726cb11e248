// Unreadable is neither missing nor malformed. Root may read everything, so another user does the reading.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { otherUid, runAsOther } from "../../test/kit/as-other-user.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";

const url = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/** Loads each home given as an argument and prints code, exit and message, or `loaded`. */
const SCRIPT = `
  import { loadConfig } from ${url("./load.ts")};
  import { checkConfig } from ${url("./check.ts")};
  const answers = process.argv.slice(1).map((home) => {
    const { state } = checkConfig({ home, processEnv: {} });
    try {
      loadConfig({ home, processEnv: {} });
      return { home, state, code: "loaded" };
    } catch ({ code, exit, message, problems }) {
      return { home, state, code, exit, message, problem: problems?.[0]?.code };
    }
  });
  console.log(JSON.stringify(answers));
`;

interface Answer {
  readonly state: string;
  readonly code: string;
  readonly exit?: number;
  readonly message?: string;
  readonly problem?: string;
}

test("unreadable, missing and malformed are told apart for a user who is not root", (t) => {
  const root = tempDir(t);
  chmodSync(root, 0o755);
  const home = (name: string): string => {
    mkdirSync(join(root, name), { mode: 0o755 });
    return join(root, name);
  };
  const closed = home("closed");
  writeFileSync(join(closed, "config.yaml"), "a: 1\n", { mode: 0o000 });
  const missing = home("missing");
  const malformed = home("malformed");
  writeFileSync(join(malformed, "config.yaml"), "{");
  const shut = home("shut");
  writeFileSync(join(shut, "config.yaml"), "a: 1\n");
  if (process.getuid?.() === 0) chownSync(shut, 0, 0);
  chmodSync(shut, 0o000);
  const env = home("env");
  writeFileSync(join(env, ".env"), "OPENAI_API_KEY=sk-secret-1\n", { mode: 0o000 });
  const twin = home("twin");
  writeFileSync(join(twin, "secret"), "sk-secret-2\n", { mode: 0o000 });
  writeFileSync(join(twin, ".env"), `OPENAI_API_KEY_FILE=${join(twin, "secret")}\n`);
  const end = runAsOther(SCRIPT, [closed, missing, malformed, shut, env, twin]);
  assert.equal(end.status, 0, end.stderr);
  const answers = JSON.parse(end.stdout) as Answer[];
  assert.deepEqual(
    answers.map(({ state, code, problem = null }) => [state, code, problem]),
    [
      ["unreadable", "CONFIG_REFUSED", "CONFIG_UNREADABLE"],
      ["missing", "loaded", null],
      ["broken", "CONFIG_REFUSED", "CONFIG_BROKEN"],
      ["unreadable", "CONFIG_REFUSED", "CONFIG_UNREADABLE"],
      ["missing", "CONFIG_REFUSED", "CONFIG_UNREADABLE"],
      ["missing", "CONFIG_REFUSED", "SECRET_FILE_UNREADABLE"],
    ],
  );
  assert.match(
    answers[0]?.message ?? "",
    new RegExp(
      `${closed}/config.yaml cannot be read: EACCES \\(mode 0000, owner uid \\d+\\), read as uid ${otherUid}`,
    ),
  );
  assert.match(answers[4]?.message ?? "", /\.env cannot be read: EACCES/);
  assert.doesNotMatch(end.stdout, /sk-secret/);
  chmodSync(join(closed, "config.yaml"), 0o600);
  assert.equal(readFileSync(join(closed, "config.yaml"), "utf8"), "a: 1\n");
});

test("a pipe in place of a file is refused, not waited for", (t) => {
  const root = tempDir(t);
  chmodSync(root, 0o755);
  const homes = ["config.yaml", ".env"].map((name) => {
    const home = join(root, name);
    mkdirSync(home, { mode: 0o755 });
    execFileSync("mkfifo", ["-m", "644", join(home, name)]);
    return home;
  });
  const end = runAsOther(SCRIPT, homes);
  const answers = JSON.parse(end.stdout) as Answer[];
  assert.deepEqual(
    answers.map(({ code, exit }) => [code, exit]),
    [
      ["CONFIG_REFUSED", 78],
      ["CONFIG_REFUSED", 78],
    ],
  );
  for (const { message } of answers) assert.match(message ?? "", /it is a pipe \(mode 0644/);
});

test("a home that cannot be written still loads", (t) => {
  const root = tempDir(t);
  writeFileSync(join(root, "config.yaml"), "timezone: UTC\n", { mode: 0o644 });
  chmodSync(root, 0o555);
  const end = runAsOther(SCRIPT, [root]);
  assert.deepEqual((JSON.parse(end.stdout) as Answer[])[0]?.code, "loaded", end.stderr);
});
