import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { loadConfig } from "#config/load.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { readProviderSettings } from "./settings.ts";

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly dotEnv?: string;
  readonly yaml?: string;
}

function read(t: TestContext, { env = {}, dotEnv, yaml }: Given) {
  const home = tempDir(t);
  if (dotEnv !== undefined) writeFileSync(join(home, ".env"), dotEnv, { mode: 0o600 });
  if (yaml !== undefined) writeFileSync(join(home, "config.yaml"), yaml, { mode: 0o600 });
  return readProviderSettings(loadConfig({ processEnv: env, home }));
}

const B = "HERMES_DASHBOARD_BASIC_AUTH";

describe("a password in the environment beats a hash in the file; the hash wins a tie", () => {
  const yaml = (key: string): string => `dashboard:\n  basic_auth:\n    ${key}: from-the-file\n`;
  const cases: readonly (readonly [string, Given, "password" | "hash"])[] = [
    [
      "password in the process, hash in the file",
      { env: { [`${B}_PASSWORD`]: "p" }, yaml: yaml("password_hash") },
      "password",
    ],
    [
      "password in .env, hash in the file",
      { dotEnv: `${B}_PASSWORD=p\n`, yaml: yaml("password_hash") },
      "password",
    ],
    [
      "hash in the process, password in the file",
      { env: { [`${B}_PASSWORD_HASH`]: "h" }, yaml: yaml("password") },
      "hash",
    ],
    [
      "password in the process, hash in .env",
      { env: { [`${B}_PASSWORD`]: "p" }, dotEnv: `${B}_PASSWORD_HASH=h\n` },
      "password",
    ],
    [
      "both in the process",
      { env: { [`${B}_PASSWORD`]: "p", [`${B}_PASSWORD_HASH`]: "h" } },
      "hash",
    ],
    ["both in the file", { yaml: `${yaml("password_hash")}    password: p\n` }, "hash"],
  ];
  for (const [name, given, expected] of cases) {
    test(name, (t) => {
      const { basic } = read(t, given);
      assert.equal(basic.prefers, expected);
      assert.ok(basic.password && basic.passwordHash);
    });
  }
});

test("names of the environment arrive, secrets from files too", (t) => {
  const path = join(tempDir(t), "secret");
  writeFileSync(path, "from a file\n", { mode: 0o600 });
  const settings = read(t, {
    env: {
      HERMES_DASHBOARD_OAUTH_CLIENT_ID: " agent:a ",
      HERMES_DASHBOARD_PORTAL_URL: "https://portal.example.test",
      HERMES_DASHBOARD_OIDC_ISSUER: "https://id.example.test",
      HERMES_DASHBOARD_OIDC_CLIENT_ID: "hermes",
      HERMES_DASHBOARD_OIDC_CLIENT_SECRET_FILE: path,
      HERMES_DASHBOARD_OIDC_SCOPES: "openid offline_access",
      HERMES_DASHBOARD_OIDC_ID_TOKEN_LEEWAY: "120",
      HERMES_DASHBOARD_OIDC_ALLOWED_USERS: "a, b",
      HERMES_DASHBOARD_OIDC_ALLOWED_DOMAINS: "example.test",
      HERMES_DASHBOARD_OIDC_ALLOWED_GROUPS: "admins",
      HERMES_DASHBOARD_DRAIN_SECRET: "d",
      HERMES_METRICS_TOKEN: "m",
      HTTPS_PROXY: "http://upper.example.test",
      https_proxy: "http://lower.example.test",
      NO_PROXY: ".example.test",
    },
  });
  assert.equal(settings.nous.clientId, "agent:a");
  assert.equal(settings.selfHosted.clientSecret?.reveal(), "from a file");
  assert.equal(settings.selfHosted.leewaySeconds, 120);
  assert.deepEqual(settings.selfHosted.allowedUsers, ["a", "b"]);
  assert.deepEqual(settings.selfHosted.allowedGroups, ["admins"]);
  assert.equal(settings.drainSecret?.reveal(), "d");
  assert.equal(settings.metricsToken?.reveal(), "m");
  assert.deepEqual(settings.proxy, {
    http: "",
    https: "http://lower.example.test",
    none: ".example.test",
  });
});

test("a leeway out of bounds is 60 with a warning", (t) => {
  for (const text of ["301", "-1", "soon"]) {
    const home = tempDir(t);
    const processEnv = { HERMES_DASHBOARD_OIDC_ID_TOKEN_LEEWAY: text };
    const loaded = loadConfig({ processEnv, home });
    assert.equal(readProviderSettings(loaded).selfHosted.leewaySeconds, 60);
    assert.equal(loaded.problems.length, 1);
  }
});
