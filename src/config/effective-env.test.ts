import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Problem } from "#base/errors.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openEffectiveEnv, type ProcessEnv } from "./effective-env.ts";

const KEY = "OPENROUTER_API_KEY";

function open(
  processEnv: ProcessEnv,
  envText: string | null = null,
  profile = "default",
): ReturnType<typeof openEffectiveEnv> {
  return openEffectiveEnv({ processEnv, envText, envPath: "/h/.env", profile });
}

const codes = (problems: readonly Problem[]): string[] =>
  problems.map((problem) => `${problem.level} ${problem.code} ${problem.setting}`);

test("the process beats .env; empty counts as unset", () => {
  const { env, problems } = open({ A: "process", B: "", C: " \t" }, "A=file\nB=file\nC=file\nD=\n");
  assert.deepEqual(
    ["A", "B", "C", "D"].map((name) => [env.get(name), env.source(name)]),
    [
      ["process", "env"],
      ["file", ".env"],
      ["file", ".env"],
      [undefined, null],
    ],
  );
  assert.deepEqual(problems, []);
});

test("a twin gives the value from a file, without its last line end", (t) => {
  const path = join(tempDir(t), "secret");
  for (const [text, value] of [
    ["sk-secret\n", "sk-secret"],
    ["sk-secret\r\n", "sk-secret"],
    ["sk secret\n\n", "sk secret\n"],
  ] as const) {
    writeFileSync(path, text);
    const { env, problems } = open({ [`${KEY}_FILE`]: path });
    assert.deepEqual([env.get(KEY), env.source(KEY)], [value, "file"]);
    assert.deepEqual(problems, []);
    assert.equal(env.secrets().get(KEY), value);
  }
});

test("both set, unreadable, missing: an error naming both; the value is never in it", (t) => {
  const folder = tempDir(t);
  writeFileSync(join(folder, "secret"), "sk-from-file");
  mkdirSync(join(folder, "directory"));
  const both = open({ [`${KEY}_FILE`]: join(folder, "secret") }, `${KEY}=sk-from-env\n`).problems;
  assert.deepEqual(codes(both), [`error ENV_FILE_AND_VALUE ${KEY}`]);
  assert.match(
    both[0]?.message ?? "",
    /OPENROUTER_API_KEY and OPENROUTER_API_KEY_FILE are both set/,
  );
  for (const [name, errno] of [
    ["directory", /EISDIR \(mode 0\d{3}, owner uid \d+\), read as uid \d+/],
    ["nothing", /ENOENT, read as uid/],
  ] as const) {
    const { problems } = open({ [`${KEY}_FILE`]: join(folder, name) });
    assert.deepEqual(codes(problems), [`error SECRET_FILE_UNREADABLE ${KEY}_FILE`]);
    assert.match(problems[0]?.message ?? "", errno);
    assert.match(problems[0]?.message ?? "", new RegExp(`${KEY} cannot be read from ${KEY}_FILE`));
  }
});

test("a variable that is no secret has no twin", (t) => {
  const path = join(tempDir(t), "host");
  writeFileSync(path, "0.0.0.0");
  const { env, problems } = open({ HERMES_DASHBOARD_HOST_FILE: path });
  assert.equal(env.get("HERMES_DASHBOARD_HOST"), undefined);
  assert.deepEqual(codes(problems), ["warning ENV_NOT_USED HERMES_DASHBOARD_HOST_FILE"]);
});

test("a named profile takes its own names from its own .env, with one notice", () => {
  const processEnv = {
    TELEGRAM_BOT_TOKEN: "token-of-default",
    API_SERVER_PORT: "8642",
    XMPP_PASSWORD_FILE: "/nowhere",
    OPENROUTER_API_KEY: "sk-shared-key",
  };
  const { env, problems } = open(processEnv, "API_SERVER_PORT=8643\n", "work");
  assert.equal(env.get("TELEGRAM_BOT_TOKEN"), undefined);
  assert.equal(env.get("API_SERVER_PORT"), "8643");
  assert.equal(env.get("OPENROUTER_API_KEY"), "sk-shared-key");
  assert.deepEqual(codes(problems), ["warning PROFILE_ENV_IGNORED null"]);
  assert.match(
    problems[0]?.message ?? "",
    /^API_SERVER_PORT, TELEGRAM_BOT_TOKEN, XMPP_PASSWORD_FILE .* ignored by work$/,
  );
  assert.doesNotMatch(problems[0]?.message ?? "", /token-of-default/);
  assert.equal(open(processEnv, null).env.get("TELEGRAM_BOT_TOKEN"), "token-of-default");
});

test("bad lines are named by number once, never with their text", () => {
  const { problems } = open({}, "sk-leaked-token\nA=1\nalso bad\n");
  assert.equal(problems.length, 1);
  assert.equal(problems[0]?.message, "/h/.env: not NAME=VALUE on line 1, 3");
});

test("names that .env may not set are not read from it", () => {
  const { env, problems } = open({}, "PATH=/evil\nLD_PRELOAD=x\nHERMES_DASHBOARD_INSECURE=1\n");
  assert.equal(env.get("PATH"), undefined);
  assert.equal(env.get("HERMES_DASHBOARD_INSECURE"), undefined);
  assert.deepEqual(codes(problems), [
    "warning ENV_NAME_REFUSED PATH",
    "warning ENV_NAME_REFUSED LD_PRELOAD",
    "warning ENV_NAME_REFUSED HERMES_DASHBOARD_INSECURE",
  ]);
  const root = open({}, "HERMES_WRITE_SAFE_ROOT=/x\n").problems;
  assert.deepEqual(codes(root), ["error ENV_NAME_REFUSED HERMES_WRITE_SAFE_ROOT"]);
});

test("secrets: the table's, own ones that read like it, named keys; of at least 8 characters", () => {
  const { env } = openEffectiveEnv({
    processEnv: {
      OPENAI_API_KEY: "sk-12345678",
      MY_LLM: "named-by-key_env",
      PLAIN: "not-a-secret",
    },
    envText: "ACME_TOKEN=acme-token-1\nSHORT_KEY=1234567\n",
    envPath: "/h/.env",
    profile: "default",
    secretNames: ["MY_LLM"],
  });
  assert.deepEqual(Object.fromEntries(env.secrets()), {
    ACME_TOKEN: "acme-token-1",
    MY_LLM: "named-by-key_env",
    OPENAI_API_KEY: "sk-12345678",
  });
});
