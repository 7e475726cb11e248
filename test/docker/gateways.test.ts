// Gateways as slots of the container (container.md §14, rows 18–25, 30–38, 55–59, 62, 64, 65).
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  bootLines,
  docker,
  dockerExec,
  exitCode,
  hermes,
  logs,
  noEngine,
  removeAll,
  runOnce,
  serviceOf,
  services,
  setupDone,
  sh,
  signal,
  startContainer,
  stop,
  volume,
  waitFor,
  waitReady,
  type Container,
} from "../kit/docker.ts";

/** The gate is not what these tests are about: they need a page that answers. */
const OPEN = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };

async function restart(c: Container): Promise<void> {
  const lines = await bootLines(c);
  await docker(["restart", c.name]);
  await setupDone(c, lines);
}

const ok = async (c: Container, ...words: readonly string[]): Promise<string> => {
  const end = await hermes(c, ...words);
  assert.equal(end.code, 0, `${words.join(" ")}: ${end.stdout}${end.stderr}`);
  return end.stdout;
};

suite("container: gateways", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("18, 19, 23: a profile made, started, stopped and deleted while everything runs", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    await ok(c, "profile", "create", "work");
    assert.equal(
      await sh(c, "ls -d /run/service/gateway-work/run /run/service/gateway-work/log/run | wc -l"),
      "2",
    );
    assert.match(
      await sh(c, "/command/s6-svstat -o up,wantedup /run/service/gateway-work"),
      /^false false$/u,
    );
    await ok(c, "-p", "work", "gateway", "start");
    await waitReady(c, "gateway-work");
    await ok(c, "-p", "work", "gateway", "stop");
    assert.match(
      await sh(c, "/command/s6-svstat -o up,wantedup /run/service/gateway-work"),
      /^false false$/u,
    );
    await ok(c, "-p", "work", "gateway", "start");
    const { pid } = await waitReady(c, "gateway-work");
    await ok(c, "profile", "delete", "-y", "work");
    assert.equal(
      await sh(c, "ls -d /run/service/gateway-work /opt/data/profiles/work 2>/dev/null"),
      "",
    );
    assert.doesNotMatch(await sh(c, "ps -eo args="), /gateway-work/u);
    assert.equal(await sh(c, `ls -d /proc/${pid ?? 0} 2>/dev/null`), "");
    assert.ok(!(await services(c)).some(({ name }) => name === "gateway-work"));
  });

  test("21, 22, 33: what ran runs again after docker restart and after a kill, what was stopped stays; leftovers go", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    await ok(c, "profile", "create", "work");
    await ok(c, "gateway", "start");
    await ok(c, "-p", "work", "gateway", "start");
    await ok(c, "-p", "work", "gateway", "stop");
    await docker(["kill", c.name]);
    const before = 1;
    await docker(["start", c.name]);
    await setupDone(c, before);
    await waitReady(c, "gateway-default");
    assert.equal((await serviceOf(c, "gateway-work")).state, "stopped");
    await sh(
      c,
      "echo '{}' >/opt/data/profiles/work/gateway.pid; echo '[]' >/opt/data/profiles/work/processes.json",
    );
    await restart(c);
    await waitReady(c, "gateway-default");
    const log = await sh(c, "tail -2 /opt/data/logs/container-boot.log");
    assert.match(
      log,
      /^\S+\+0000 profile=default prior_state=running action=started desired=running reason=desired$/mu,
    );
    assert.match(
      log,
      /^\S+ profile=work prior_state=stopped action=registered desired=stopped reason=desired$/mu,
    );
    assert.equal(
      await sh(
        c,
        "ls /opt/data/profiles/work/gateway.pid /opt/data/profiles/work/processes.json 2>/dev/null",
      ),
      "",
    );
    assert.equal(
      await sh(
        c,
        "ls /run/service/gateway-work/down /run/service/gateway-default/down 2>/dev/null",
      ),
      "/run/service/gateway-work/down",
    );
  });

  test("24, 25: every control action works as hermes on boot-made and run-time slots", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["gateway", "run"] });
    await ok(c, "profile", "create", "late");
    await ok(c, "-p", "late", "gateway", "start");
    assert.match(
      await ok(c, "status", "--json"),
      /"manager":\{"kind":"s6","label":"s6 \(container supervisor\)"/u,
    );
    assert.equal((await dockerExec(c, ["s6-svscanctl", "-a", "/run/service"])).code, 0);
    assert.equal((await dockerExec(c, ["s6-svscanctl", "-an", "/run/service"])).code, 0);
    for (const slot of ["dashboard", "gateway-default", "gateway-late"]) {
      const first = await waitReady(c, slot);
      assert.equal((await dockerExec(c, ["s6-svc", "-t", `/run/service/${slot}`])).code, 0);
      await waitFor(
        c,
        `another pid of ${slot}`,
        async () => (await serviceOf(c, slot)).pid !== first.pid,
      );
      await waitReady(c, slot);
      assert.equal((await dockerExec(c, ["s6-svc", "-wD", "-d", `/run/service/${slot}`])).code, 0);
      assert.match(await sh(c, `/command/s6-svstat -o up /run/service/${slot}`), /^false$/u);
      assert.equal((await dockerExec(c, ["s6-svc", "-u", `/run/service/${slot}`])).code, 0);
      await waitReady(c, slot);
    }
  });

  test("30: gateway run: one process in its slot; stop is 0; an explicit stop is respected", async (t) => {
    const name = await volume(t);
    const c = await startContainer(t, {
      opts: ["-v", `${name}:/opt/data`],
      args: ["gateway", "run"],
    });
    await waitReady(c, "gateway-default");
    assert.equal(await sh(c, "ps -eo args= | grep -c '^hermes gateway run'"), "1");
    const said = await logs(c);
    assert.match(said, /s6 supervision.*logs\/gateways\/default\/current.*--no-supervise/u);
    await ok(c, "gateway", "stop");
    assert.equal((await stop(c)).code, 0);
    const again = await startContainer(t, {
      opts: ["-v", `${name}:/opt/data`],
      args: ["gateway", "run"],
      waits: false,
    });
    await waitFor(again, "the word about the stop", async () =>
      (await logs(again)).includes("was stopped"),
    );
    assert.equal((await serviceOf(again, "gateway-default")).state, "stopped");
    assert.match(await logs(again), /hermes gateway start/u);
  });

  test("30: a profile that is not there: 66, with the real ones", async () => {
    const end = await runOnce({ args: ["-p", "nosuch", "gateway", "run"] });
    assert.equal(end.code, 66);
    assert.match(end.stderr, /default/u);
  });

  test("31: --no-supervise, and by variable: one process in the foreground, its own exit code", async (t) => {
    for (const start of [
      { args: ["gateway", "run", "--no-supervise"] },
      { args: ["gateway", "run"], env: { HERMES_GATEWAY_NO_SUPERVISE: "1" } },
    ]) {
      const c = await startContainer(t, start);
      await waitFor(
        c,
        "ready in the foreground",
        async () => (await serviceOf(c, "gateway-default")).state === "ready",
      );
      assert.match(
        await sh(c, "/command/s6-svstat -o up /run/service/gateway-default"),
        /^false$/u,
      );
      assert.equal((await hermes(c, "probe", "--self")).code, 0);
      assert.equal((await stop(c)).code, 0);
    }
    const broken = `printf 'terminal:\\n  backend: docker\\n' >/opt/data/config.yaml; exec hermes gateway run --no-supervise`;
    const refused = await runOnce({ args: ["sh", "-c", broken] });
    assert.equal(refused.code, 78, refused.stderr);
    assert.match(refused.stderr, /terminal\.backend/u);
  });

  test("32: bootstrap: a blank volume starts, an existing wish stays, other words seed nothing", async (t) => {
    const c = await startContainer(t, {
      env: { HERMES_GATEWAY_BOOTSTRAP_STATE: "running" },
      args: ["sleep", "300"],
    });
    await waitReady(c, "gateway-default");
    await ok(c, "gateway", "stop");
    await restart(c);
    assert.equal((await serviceOf(c, "gateway-default")).state, "stopped");
    const other = await startContainer(t, {
      env: { HERMES_GATEWAY_BOOTSTRAP_STATE: "on" },
      args: ["sleep", "300"],
    });
    assert.equal((await serviceOf(other, "gateway-default")).reason, "never started");
    assert.match(await logs(other), /HERMES_GATEWAY_BOOTSTRAP_STATE=on is ignored/u);
  });

  test("34: a crash loop is called one, waits longer each time, and stops at once", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    const page = await waitReady(c, "dashboard");
    // A program in the way of `hermes` for this slot only: it dies after 300 ms.
    await sh(
      c,
      "mkdir -p ~/.local/bin; rm /run/service/gateway-default/run; printf '#!/bin/sh\\nexec 2>&1\\nIFS=. read -r u _ </proc/uptime; echo $u >data/started\\nif [ -s data/backoff ]; then read -r _ until <data/backoff; w=$((until-u)); [ $w -gt 0 ] && sleep $w; fi\\nsleep 0.3; exit 1\\n' >/run/service/gateway-default/run; chmod +x /run/service/gateway-default/run",
    );
    await sh(c, `kill -9 $(/command/s6-svstat -o pid /run/service/gateway-default)`);
    const looping = await waitFor(
      c,
      "crash-looping",
      async () => {
        const service = await serviceOf(c, "gateway-default");
        return service.state === "crash-looping" ? service : null;
      },
      30_000,
    );
    assert.ok(looping.restarts >= 3);
    const unhealthy = await hermes(c, "probe", "--self");
    assert.equal(unhealthy.code, 1);
    assert.match(unhealthy.stdout, /crash-looping/u);
    assert.equal((await serviceOf(c, "dashboard")).pid, page.pid);
    const started = performance.now();
    await hermes(c, "gateway", "stop");
    assert.ok(performance.now() - started < 8000);
    assert.equal((await serviceOf(c, "gateway-default")).state, "stopped");
  });

  test("35: the supervisor of a slot killed: one process, control works", async (t) => {
    const c = await startContainer(t, { args: ["gateway", "run"] });
    const before = await waitReady(c, "gateway-default");
    await sh(c, "kill -9 $(pgrep -x -f 's6-supervise gateway-default')");
    await waitFor(c, "a new supervisor and a new process", async () => {
      const now = await serviceOf(c, "gateway-default");
      return now.state === "ready" && now.pid !== before.pid;
    });
    assert.equal(await sh(c, "ps -eo args= | grep -c '^hermes gateway run'"), "1");
    await ok(c, "gateway", "restart");
  });

  test("36: the nested s6-svscan killed: all slots ready again, no repeated line", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["gateway", "run"] });
    const old = [await waitReady(c, "gateway-default"), await waitReady(c, "dashboard")];
    const started = performance.now();
    await sh(c, "kill -9 $(pgrep -f 's6-svscan -d 3')");
    await waitFor(
      c,
      "new pids, ready",
      async () => {
        const now = await services(c);
        return (
          now.length === 2 &&
          now.every(
            (service) => service.state === "ready" && !old.some(({ pid }) => pid === service.pid),
          )
        );
      },
      30_000,
    );
    assert.ok(performance.now() - started < 25_000);
    const said = (await logs(c))
      .split("\n")
      .filter((line) => line.includes("the supervisor of the slots died"));
    assert.equal(said.length, 1);
  });

  test("36: the supervisor of the nested s6-svscan killed: the old one ends, all slots ready again, once", async (t) => {
    const c = await startContainer(t, { args: ["gateway", "run"] });
    const { pid } = await waitReady(c, "gateway-default");
    // Root: the supervisor of the slots' s6-svscan is root's.
    await dockerExec(c, ["sh", "-c", "kill -9 $(pgrep -x -f 's6-supervise slots')"], {
      user: "root",
    });
    const next = await waitFor(
      c,
      "a new gateway, ready",
      async () => {
        const now = await serviceOf(c, "gateway-default");
        return now.state === "ready" && now.pid !== pid ? now : null;
      },
      30_000,
    );
    await sh(c, "sleep 12");
    assert.equal((await serviceOf(c, "gateway-default")).pid, next.pid);
    assert.equal((await logs(c)).split("the supervisor of the slots died").length, 2);
    assert.equal(await sh(c, "pgrep -f 's6-[s]vscan -d 3' | wc -l"), "1");
  });

  test("37: stage2 killed: a stop still ends every service and the container", async (t) => {
    const c = await startContainer(t, { args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    // Root: stage2 is root's. The bracket keeps pgrep from finding this shell.
    await dockerExec(c, ["sh", "-c", "kill -9 $(pgrep -f 'libexec/[s]tage2')"], { user: "root" });
    const { ms, code } = await stop(c);
    assert.equal(code, 143);
    assert.ok(ms < 9000, `${ms}`);
    assert.match(await logs(c), /goodbye/u);
  });

  test("37: docker stop with the dashboard and five gateways: each says goodbye, never 137", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["sleep", "300"] });
    for (const name of ["a", "b", "c", "d"]) await ok(c, "profile", "create", name);
    await ok(c, "gateway", "start", "--all", "--wait", "60");
    for (let round = 0; round < 2; round++) {
      const { ms, code } = await stop(c);
      assert.equal(code, 143);
      assert.ok(ms < 9000, `${ms}`);
      const lines = await bootLines0(c);
      await docker(["start", c.name]);
      await setupDone(c, lines);
      const goodbyes = (await logs(c)).split("\n").filter((line) => line.includes("goodbye"));
      assert.equal(goodbyes.length, 5 * (round + 1));
      await waitFor(c, "all ready again", async () =>
        (await services(c)).every(({ state }) => state === "ready"),
      );
    }
  });

  test("55: a second container on a live volume harms nothing", async (t) => {
    const name = await volume(t);
    const first = await startContainer(t, {
      opts: ["-v", `${name}:/opt/data`],
      args: ["gateway", "run"],
    });
    const { pid } = await waitReady(first, "gateway-default");
    const answer = await runOnce({
      opts: ["-v", `${name}:/opt/data`],
      args: ["chat", "--provider", "demo", "-q", "hi"],
    });
    assert.equal(answer.code, 0, answer.stderr);
    const now = await waitReady(first, "gateway-default");
    assert.equal(now.pid, pid);
    assert.equal(await sh(first, "ls /opt/data/gateway.pid"), "/opt/data/gateway.pid");
  });

  test("56: a profile copied in is registered by its start; a name that is none stands in nobody's way", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    await ok(c, "profile", "create", "one");
    await sh(
      c,
      "cp -r /opt/data/profiles/one /opt/data/profiles/copied; mkdir '/opt/data/profiles/Bad Name'",
    );
    await ok(c, "-p", "copied", "gateway", "start");
    await waitReady(c, "gateway-copied");
    assert.equal((await hermes(c, "-p", "xx", "gateway", "start")).code, 66);
    await ok(c, "profile", "rename", "copied", "moved");
    await waitReady(c, "gateway-moved");
    await restart(c);
    await waitReady(c, "gateway-moved");
    assert.match(await logs(c), /profiles\/Bad Name is skipped/u);
    const others = (await services(c)).map(({ name }) => name);
    for (const bad of ["../up", "with space", "-x", "a/b", "", "a".repeat(65)]) {
      const end = await dockerExec(c, ["hermes", "profile", "create", "--", bad]);
      assert.equal(end.code, 64, `${bad}: ${end.stderr}`);
    }
    await ok(c, "profile", "export", "moved", "--output", "/tmp/moved.tar.gz");
    await ok(c, "profile", "import", "/tmp/moved.tar.gz", "--name", "brought");
    await ok(c, "-p", "brought", "gateway", "start");
    await waitReady(c, "gateway-brought");
    await ok(c, "profile", "delete", "brought", "-y");
    assert.deepEqual(
      (await services(c)).map(({ name }) => name),
      others,
    );
    await waitReady(c, "gateway-moved");
  });

  test("58: a restart asked for inside the slot answers at once and brings a new pid", async (t) => {
    const c = await startContainer(t, { args: ["gateway", "run"] });
    const before = await waitReady(c, "gateway-default");
    const asked = await dockerExec(c, ["hermes", "gateway", "restart"], {
      env: { HERMES_SLOT: "gateway-default" },
    });
    assert.equal(asked.code, 0, asked.stderr);
    assert.match(asked.stdout, /after this turn/u);
    await waitFor(c, "a new pid", async () => {
      const now = await serviceOf(c, "gateway-default");
      return now.state === "ready" && now.pid !== before.pid;
    });
  });

  test("59: state files that are no records never decide", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    for (const text of [
      "[]",
      '"x"',
      "",
      "\\377\\376",
      '{"gateway_state":"running","pid":1,"start_time":"1","updated_at":4102444800}',
    ]) {
      await sh(c, `printf '${text}' >/opt/data/gateway_state.json`);
      const service = await serviceOf(c, "gateway-default");
      assert.deepEqual([service.state, service.pid], ["stopped", null], text);
    }
  });

  test("62: a secret from a file is used, both spellings are refused, and it is in no environment", async (t) => {
    const c = await startContainer(t, {
      env: {
        HERMES_DASHBOARD: "1",
        HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "admin",
        HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_FILE: "/etc/hostname",
      },
      args: ["sleep", "300"],
    });
    await waitReady(c, "dashboard");
    const secret = await sh(c, "cat /etc/hostname");
    const seen = await sh(
      c,
      "for p in $(pgrep -u hermes); do tr '\\0' '\\n' </proc/$p/environ; done | grep -v '^HOSTNAME=' | grep -c \"$(cat /etc/hostname)\"",
    );
    assert.equal(seen, "0", secret);
    const both = await startContainer(t, {
      env: {
        HERMES_DASHBOARD: "1",
        HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "admin",
        HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "a long password",
        HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_FILE: "/etc/hostname",
      },
      args: ["sleep", "300"],
    });
    await waitFor(
      both,
      "refused",
      async () => (await serviceOf(both, "dashboard")).state === "refused",
    );
  });

  test("64: a hundred profiles are supervised soon after setup", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    await ok(c, "profile", "create", "p0");
    await sh(c, "cd /opt/data/profiles; for i in $(seq 1 98); do cp -r p0 p$i; done");
    await restart(c);
    await waitFor(
      c,
      "every slot to be supervised",
      async () => {
        const count = await sh(
          c,
          "n=0; for d in /run/service/gateway-*; do [ -p $d/supervise/control ] && [ -p $d/log/supervise/control ] && n=$((n+1)); done; echo $n",
        );
        return Number(count) === 100;
      },
      40_000,
    );
  });

  test("65: a stopped process (SIGSTOP) is unknown, not ready; after CONT it is ready", async (t) => {
    const c = await startContainer(t, { args: ["gateway", "run"] });
    const { pid } = await waitReady(c, "gateway-default");
    await sh(c, `kill -STOP ${pid ?? 0}`);
    await waitFor(
      c,
      "unknown",
      async () => (await serviceOf(c, "gateway-default")).state === "unknown",
      5000,
    );
    assert.equal((await hermes(c, "probe", "--self")).code, 1);
    await sh(c, `kill -CONT ${pid ?? 0}`);
    await waitReady(c, "gateway-default");
  });

  test("signals to a command that holds are its own business: the gateway survives an INT to PID 1 only as asked", async (t) => {
    const c = await startContainer(t, { args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    await signal(c, "INT");
    assert.equal(await exitCode(c), 0);
  });
});

/** Of a container that does not run: read from its own file system. */
async function bootLines0(c: Container): Promise<number> {
  const { stdout } = await docker(["cp", `${c.name}:/opt/data/logs/container-boot.log`, "-"]);
  return stdout.split("\n").filter((line) => line.includes("profile=default")).length;
}
