import assert from "node:assert/strict";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { type ContainerEnv, type Env, readContainerEnv } from "./environment.ts";

function refusal(env: Env): readonly string[] {
  try {
    readContainerEnv(env);
  } catch (error) {
    assert.ok(isHermesError(error, "CONTAINER_ENV"));
    assert.equal(error.exit, 78);
    return error.problems.map((problem) => `${problem.setting}|${problem.message}`);
  }
  return [];
}

const GOOD: readonly (readonly [Env, Partial<ContainerEnv>])[] = [
  [{}, { home: "/opt/data", uid: null, gid: null, stopGrace: 10, homeMode: null }],
  [{ HERMES_HOME: "/srv/a" }, { home: "/srv/a" }],
  [{ HERMES_HOME: "" }, { home: "/opt/data" }],
  [{ HERMES_HOME: "/home/me/.hermes" }, { home: "/home/me/.hermes" }],
  [{ HERMES_HOME: "/var/lib/hermes" }, { home: "/var/lib/hermes" }],
  [{ HERMES_HOME: "/tmp/übung-1_2+3@4,5=6~7" }, { home: "/tmp/übung-1_2+3@4,5=6~7" }],
  [
    { HERMES_UID: "1", HERMES_GID: "65534" },
    { uid: 1, gid: 65_534 },
  ],
  [
    { PUID: "99", PGID: "100" },
    { uid: 99, gid: 100 },
  ],
  [
    { HERMES_UID: "5", PUID: "99", HERMES_GID: "", PGID: "100" },
    { uid: 5, gid: 100 },
  ],
  [{ HERMES_UID: "7", PUID: "nonsense" }, { uid: 7 }],
  [{ HERMES_STOP_GRACE: "4" }, { stopGrace: 4 }],
  [{ HERMES_STOP_GRACE: "3600" }, { stopGrace: 3600 }],
  [{ HERMES_STOP_GRACE: "" }, { stopGrace: 10 }],
  [{ HERMES_HOME_MODE: "0755" }, { homeMode: 0o755 }],
  [{ HERMES_HOME_MODE: "700" }, { homeMode: 0o700 }],
  [{ HERMES_GATEWAY_PROFILES: "" }, { gatewayProfiles: null }],
  [{ HERMES_GATEWAY_PROFILES: "none" }, { gatewayProfiles: [] }],
  [{ HERMES_GATEWAY_PROFILES: " a, b ,,c" }, { gatewayProfiles: ["a", "b", "c"] }],
  [
    { HERMES_DASHBOARD: "Yes", HERMES_LOG_NO_TEE: "1" },
    { dashboard: true, noTee: true },
  ],
  [{ HERMES_DASHBOARD: "OFF" }, { dashboard: false, notices: [] }],
  [{ HERMES_GATEWAY_BOOTSTRAP_STATE: "running" }, { bootstrapRunning: true, notices: [] }],
  // What only a service reads is that service's refusal, not the container's.
  [{ HERMES_DASHBOARD_PORT: "tcp://10.0.0.1:9119" }, { stopGrace: 10, notices: [] }],
];

for (const [env, expected] of GOOD) {
  test(`environment ${JSON.stringify(env)}`, () => {
    const read = readContainerEnv(env);
    for (const [key, value] of Object.entries(expected))
      assert.deepEqual(read[key as keyof ContainerEnv], value, key);
  });
}

const BAD: readonly (readonly [string, string])[] = [
  ["HERMES_HOME", "data"],
  ["HERMES_HOME", "/opt/my data"],
  ["HERMES_HOME", '/opt/"a"'],
  ["HERMES_HOME", "/"],
  ["HERMES_HOME", "/etc"],
  ["HERMES_HOME", "/usr/local/bin"],
  ["HERMES_HOME", "/opt/data/../../etc/"],
  ["HERMES_HOME", "/opt/hermes/data"],
  ["HERMES_HOME", "/run/service"],
  ["HERMES_HOME", "/var"],
  ["HERMES_UID", "0"],
  ["HERMES_UID", "65535"],
  ["HERMES_UID", "-1"],
  ["HERMES_UID", "1000.5"],
  ["HERMES_UID", "0x10"],
  ["HERMES_UID", "1e3"],
  ["HERMES_UID", " 5"],
  ["HERMES_UID", "hermes"],
  ["HERMES_GID", "0"],
  ["HERMES_GID", "999999"],
  ["PUID", "root"],
  ["PGID", "65536"],
  ["HERMES_STOP_GRACE", "3"],
  ["HERMES_STOP_GRACE", "3601"],
  ["HERMES_STOP_GRACE", "10s"],
  ["HERMES_STOP_GRACE", "1.5"],
  ["HERMES_HOME_MODE", "rwx"],
  ["HERMES_HOME_MODE", "0788"],
  ["HERMES_HOME_MODE", "7"],
  ["HERMES_HOME_MODE", "000"],
  ["HERMES_HOME_MODE", "0500"],
];

for (const [name, value] of BAD) {
  test(`${name}=${value} is refused by name`, () => {
    const found = refusal({ [name]: value });
    assert.equal(found.length, 1);
    const [only = ""] = found;
    assert.ok(only.startsWith(`${name}|${name}=${value} is not `), only);
  });
}

test("all bad values are named together", () => {
  const found = refusal({ HERMES_UID: "x", PGID: "y", HERMES_STOP_GRACE: "z" });
  assert.deepEqual(
    found.map((text) => text.split("|")[0]),
    ["HERMES_UID", "PGID", "HERMES_STOP_GRACE"],
  );
});

const NOTICES: readonly (readonly [Env, RegExp | null])[] = [
  [
    { HERMES_DASHBOARD_PROT: "1" },
    /^HERMES_DASHBOARD_PROT is not used: did you mean HERMES_DASHBOARD_PORT\?$/,
  ],
  [{ HERMES_GATEWAY_QQQQQQQQ: "1" }, /^HERMES_GATEWAY_QQQQQQQQ is not used/],
  [{ HERMES_DASHBOARD_PORT_FILE: "/x" }, /^HERMES_DASHBOARD_PORT_FILE is not used/],
  [{ HERMES_DASHBOARD: "2" }, /^HERMES_DASHBOARD=2 is neither on .* taken as off$/],
  [{ HERMES_BOOT_LOG: "enable" }, /^HERMES_BOOT_LOG=enable is neither/],
  [
    { HERMES_GATEWAY_BOOTSTRAP_STATE: "Running" },
    /^HERMES_GATEWAY_BOOTSTRAP_STATE=Running is ignored/,
  ],
  [{ HERMES_DASHBOARD_PORT: "1", HERMES_GATEWAY_PROFILES: "a" }, null],
  [{ HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_FILE: "/run/secrets/p" }, null],
  [{ SOMETHING_ELSE: "1", HERMES_UNRELATED: "1" }, null],
];

for (const [env, expected] of NOTICES) {
  test(`notices about ${Object.keys(env).join(", ")}`, () => {
    const { notices } = readContainerEnv(env);
    assert.equal(notices.length, expected === null ? 0 : 1, notices.join("\n"));
    if (expected !== null) assert.match(notices[0] ?? "", expected);
  });
}
