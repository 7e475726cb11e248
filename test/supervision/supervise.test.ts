// `hermes supervise` on a host with s6 (container.md §2.6, §7.4): reconciles, becomes the supervisor, ends with 0 on TERM.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { otherUid } from "../kit/as-other-user.ts";
import { LAUNCHER, startCli } from "../kit/cli.ts";
import { noS6 } from "../kit/s6-gateways.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const skip = noS6 ?? false;
const SYSTEM = "/usr/bin:/bin";

function openHome(t: TestContext): { readonly home: string; readonly uid: number } {
  const folder = tempDir(t, "hermes-supervise");
  const uid = otherUid ?? 0;
  const home = join(folder, "home");
  chmodSync(folder, 0o755);
  mkdirSync(home);
  chownSync(home, uid, uid);
  // Another program of our name comes first on this PATH.
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin", "hermes"), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
  return { home, uid };
}

test("what ran before is supervised again; TERM ends everything with 0", { skip }, async (t) => {
  let end = async (): Promise<unknown> => null;
  // Before the directory's own removal: hooks run in the order in which they were set.
  t.after(() => end());
  const { home, uid } = openHome(t);
  writeFileSync(join(home, "gateway_desired.json"), '{"schema":1,"desired":"running"}');
  const env = { PATH: `${join(home, "..", "bin")}:${SYSTEM}`, HOME: home, HERMES_HOME: home };
  const tree = spawn(process.execPath, ["--conditions=hermes-source", LAUNCHER, "supervise"], {
    env,
    uid,
    gid: uid,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => tree.once("exit", resolve));
  end = () => {
    tree.kill("SIGTERM");
    return ended;
  };
  const status = async (): Promise<{ state: string; pid: number; manager: string }> => {
    const { stdout } = await startCli(["status", "--json"], { home, env, uid }).ended;
    const body = JSON.parse(stdout) as {
      manager: { label: string };
      services: readonly { name: string; state: string; pid: number }[];
    };
    const gateway = body.services.find(({ name }) => name === "gateway-default");
    return {
      state: gateway?.state ?? "none",
      pid: gateway?.pid ?? 0,
      manager: body.manager.label,
    };
  };
  const ready = await until(
    "the gateway is ready",
    async () => {
      const now = await status();
      return now.state === "ready" ? now : null;
    },
    30_000,
  );
  assert.equal(ready.manager, "s6 (user)");
  const second = await startCli(["supervise"], { home, env, uid }).ended;
  assert.equal(second.code, 78);
  assert.match(second.stderr, /is supervised already/);
  assert.equal(await end(), 0);
  assert.throws(() => process.kill(ready.pid, 0), { code: "ESRCH" });
});
