// The gateway as a slot of real s6: commands, profiles, hand-over, exit codes.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { noS6, openS6Home, type S6Home } from "../kit/s6-gateways.ts";
import { until } from "../kit/until.ts";

interface Service {
  readonly name: string;
  readonly state: string;
  readonly pid: number;
  readonly desired: string | null;
  readonly reason: string | null;
}

const skip = noS6 ?? false;

async function service(
  ring: S6Home,
  ...words: string[]
): Promise<Service & { code: number | null }> {
  const { stdout, stderr, code } = await ring.run(...words, "--json");
  const body = JSON.parse(stdout) as { service?: Service };
  assert.ok(body.service, stdout + stderr);
  return { ...body.service, code };
}

test(
  "a gateway is registered by its first start, restarted, killed, stopped",
  { skip },
  async (t) => {
    const ring = await openS6Home(t);
    assert.equal((await service(ring, "gateway", "status")).reason, "not registered");
    const started = await service(ring, "gateway", "start");
    assert.deepEqual([started.code, started.state], [0, "ready"]);
    const restarted = await service(ring, "gateway", "restart");
    assert.equal(restarted.state, "ready");
    assert.notEqual(restarted.pid, started.pid);
    process.kill(restarted.pid, "SIGKILL");
    const again = await until("a new one is ready", async () => {
      const now = await service(ring, "gateway", "status");
      return now.state === "ready" && now.pid !== restarted.pid ? now : null;
    });
    process.kill(again.pid, "SIGUSR1");
    await until("restarted by its own signal", async () => {
      const now = await service(ring, "gateway", "status");
      return now.state === "ready" && now.pid !== again.pid;
    });
    assert.equal((await service(ring, "gateway", "stop")).state, "stopped");
    assert.equal((await service(ring, "gateway", "status")).desired, "stopped");
    const log = readFileSync(join(ring.home, "logs", "gateways", "default", "current"), "utf8");
    assert.match(log, /gateway default: running \(pid \d+\); no platform is configured\n/);
    assert.match(log, /gateway default: goodbye\n/);
  },
);

test("a gateway that refuses stays down with its reason", { skip }, async (t) => {
  const ring = await openS6Home(t);
  writeFileSync(join(ring.home, "config.yaml"), "terminal:\n  backend: docker\n");
  const refused = await ring.run("gateway", "start");
  assert.equal(refused.code, 78, refused.stderr);
  const shown = await service(ring, "gateway", "status");
  assert.equal(shown.state, "refused");
  writeFileSync(join(ring.home, "config.yaml"), "");
  assert.equal((await service(ring, "gateway", "start")).state, "ready");
});

test(
  "gateway run hands over and holds; --no-supervise is refused; an explicit stop is respected",
  { skip },
  async (t) => {
    const ring = await openS6Home(t);
    const typed = ring.start("gateway", "run");
    t.after(() => typed.child.kill("SIGKILL"));
    await until(
      "it is ready",
      async () => (await service(ring, "gateway", "status")).state === "ready",
    );
    assert.match(typed.stderr(), /s6 supervision.*--no-supervise/);
    const second = await ring.run("gateway", "run", "--no-supervise");
    assert.equal(second.code, 78);
    assert.equal(typed.child.exitCode, null);
    typed.child.kill("SIGTERM");
    assert.equal((await typed.ended).code, 0);
    assert.equal((await service(ring, "gateway", "stop")).code, 0);
    const late = ring.start("gateway", "run");
    t.after(() => late.child.kill("SIGKILL"));
    await until("it says so", () => late.stderr().includes("stays down"));
    assert.match(late.stderr(), /hermes gateway start/);
    assert.equal((await service(ring, "gateway", "status")).state, "stopped");
    late.child.kill("SIGTERM");
    await late.ended;
  },
);

test(
  "profiles: registered down, started, renamed, copied in, deleted without a trace",
  { skip },
  async (t) => {
    const ring = await openS6Home(t);
    const create = await ring.run("profile", "create", "one", "--no-alias");
    assert.equal(create.code, 0, create.stderr);
    assert.equal((await service(ring, "-p", "one", "gateway", "status")).reason, "never started");
    assert.equal((await service(ring, "-p", "one", "gateway", "start")).state, "ready");
    assert.equal((await ring.run("profile", "rename", "one", "two")).code, 0);
    assert.equal((await service(ring, "-p", "two", "gateway", "status")).state, "ready");
    const all = await ring.run("gateway", "restart", "--all");
    assert.equal(all.code, 0, all.stderr);
    assert.equal((await ring.run("profile", "delete", "two", "-y")).code, 0);
    assert.equal(existsSync(join(ring.home, "profiles", "two")), false);
    const slots = (): string[] => readdirSync(ring.scandir).filter((name) => name !== ".s6-svscan");
    assert.deepEqual(slots(), []);
    assert.equal((await ring.run("profile", "repair")).code, 0);
    assert.deepEqual(slots(), ["gateway-default"]);
    assert.equal((await ring.run("-p", "nosuch", "gateway", "start")).code, 66);
    assert.deepEqual(slots(), ["gateway-default"]);
  },
);
