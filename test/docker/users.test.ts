// Who runs what, and whose the files are (container.md §2.8, §3.1, §12; §14 rows 45–52).
import assert from "node:assert/strict";
import { chownSync, chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, suite, test, type TestContext } from "node:test";
import {
  bootLines,
  docker,
  dockerExec,
  engineIsLocal,
  exitCode,
  IMAGE,
  logs,
  noEngine,
  removeAll,
  runOnce,
  setupDone,
  sh,
  startContainer,
  stop,
  volume,
  waitReady,
} from "../kit/docker.ts";
import { tempDir } from "../kit/temp-dir.ts";

/** The gate is not what these tests are about: they need a page that answers. */
const OPEN = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };
/** Says `compiled` where this user's starts read what V8 made at the image's build. */
const COMPILED =
  "NODE_DEBUG_NATIVE=COMPILE_CACHE hermes gateway list 2>&1 | grep -q 'main.js was accepted' && echo compiled";
const STRICT = [
  "--user=10000:10000",
  "--cap-drop=ALL",
  "--security-opt=no-new-privileges",
  "--read-only",
  "--tmpfs=/run",
  "--tmpfs=/tmp",
];

/**
 * A volume as some earlier run left it: `line` runs in it as root, for it makes files of others. It must leave a file, or the
 * engine would give an empty volume the image's owner and mode once more.
 */
async function seeded(t: TestContext, line: string): Promise<string> {
  const name = await volume(t);
  const end = await onVolume(name, line);
  assert.equal(end.code, 0, end.stderr);
  return name;
}

/** A look at a volume from outside its container, whoever owns what. */
const onVolume = (name: string, line: string) =>
  docker(["run", "--rm", "--entrypoint=sh", "--volume", `${name}:/opt/data`, IMAGE, "-c", line]);

suite("container: users and files", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  for (const [what, opts] of [
    ["plain", ["--user=10000:10000"]],
    ["strict", STRICT],
  ] as const) {
    test(`45: --user 10000:10000, ${what}: slots ready, stop is clean, the exit code passes`, async (t) => {
      const env = { ...OPEN, HERMES_UID: "99" };
      const c = await startContainer(t, { opts, env, args: ["gateway", "run"] });
      await waitReady(c, "gateway-default");
      await waitReady(c, "dashboard");
      assert.match(await logs(c), /HERMES_UID and HERMES_GID are ignored/u);
      assert.equal(await sh(c, COMPILED), "compiled");
      assert.equal((await stop(c)).code, 0);
      assert.equal((await runOnce({ opts, env, args: ["sh", "-c", "exit 42"] })).code, 42);
    });
  }

  test("46: any other user: 78 at once, with the way out, and nothing written", async (t) => {
    const name = await seeded(t, "chmod 777 /opt/data; touch /opt/data/kept");
    const opts = ["--user=1234", "--volume", `${name}:/opt/data`];
    const end = await runOnce({ opts, args: ["sleep", "1"] });
    assert.equal(end.code, 78);
    assert.match(end.stderr, /HERMES_UID.*--user 10000:10000/u);
    assert.ok(end.ms < 8000, `${end.ms}`);
    assert.equal((await onVolume(name, "ls -A /opt/data")).stdout, "kept\n");
  });

  test("47: root with SETUID and SETGID only: slots ready, stop is clean", async (t) => {
    const opts = ["--cap-drop=ALL", "--cap-add=SETUID", "--cap-add=SETGID"];
    const c = await startContainer(t, { opts, env: OPEN, args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    await waitReady(c, "dashboard");
    const { ms, code } = await stop(c);
    assert.equal(code, 0);
    assert.ok(ms < 8000, `${ms}`);
  });

  test("47: without these two: 78 that says what to add", async () => {
    const end = await runOnce({ opts: ["--cap-drop=ALL"], args: ["sleep", "1"] });
    assert.equal(end.code, 78);
    assert.match(end.stderr, /--user 10000:10000.*SETUID and SETGID/u);
  });

  test("47: a mounted Docker socket is shared only when asked", async (t) => {
    if (!engineIsLocal || process.getuid?.() !== 0) {
      t.skip("needs an engine that sees our files, and root to choose a group");
      return;
    }
    const folder = tempDir(t, "hermes-socket");
    const path = join(folder, "docker.sock");
    const server = createServer().listen(path);
    t.after(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    chownSync(path, 0, 4321);
    chmodSync(folder, 0o755);
    const opts = ["--volume", `${path}:/run/docker.sock`];
    const groups = async (env: Record<string, string>) =>
      (await runOnce({ opts, env, args: ["id", "-G"] })).stdout.trim().split(" ");
    assert.equal((await groups({})).includes("4321"), false);
    assert.equal((await groups({ HERMES_DOCKER_SOCKET: "1" })).includes("4321"), true);
  });

  test("48: a read-only root with Docker's noexec tmpfs on /run and /tmp", async (t) => {
    const opts = ["--read-only", "--tmpfs=/run", "--tmpfs=/tmp"];
    const c = await startContainer(t, { opts, env: OPEN, args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    await waitReady(c, "dashboard");
    assert.match(await sh(c, "grep ' /run ' /proc/mounts"), /noexec/u);
  });

  const REFUSED: readonly (readonly [
    string,
    (name: string) => readonly string[],
    Readonly<Record<string, string>>,
    RegExp,
  ])[] = [
    ["a read-only root without tmpfs", () => ["--read-only"], {}, /--tmpfs \/run/u],
    [
      "a read-only volume",
      (name) => ["--volume", `${name}:/opt/data:ro`],
      {},
      /\/opt\/data cannot be written as uid 10000.*belongs to 0:0, mode 700/u,
    ],
    [
      "a volume of somebody else",
      (name) => ["--user=10000:10000", "--volume", `${name}:/opt/data`],
      {},
      /\/opt\/data cannot be written as uid 10000.*belongs to 0:0, mode 700/u,
    ],
    [
      "a remap that cannot be written down",
      () => ["--read-only", "--tmpfs=/run", "--tmpfs=/tmp"],
      { HERMES_UID: "99" },
      /HERMES_UID.*\/etc\/passwd/u,
    ],
    ["a user that is none", () => [], { HERMES_UID: "root" }, /HERMES_UID/u],
    ["a user that is root", () => [], { HERMES_UID: "0" }, /HERMES_UID/u],
    ["a grace that is none", () => [], { HERMES_STOP_GRACE: "1" }, /HERMES_STOP_GRACE/u],
  ];
  for (const [what, opts, env, text] of REFUSED) {
    test(`48: ${what}: 78 that names it`, async (t) => {
      const name = await seeded(
        t,
        "chown 0:0 /opt/data; chmod 700 /opt/data; touch /opt/data/kept",
      );
      const end = await runOnce({ opts: opts(name), env, args: ["sleep", "1"] });
      assert.equal(end.code, 78, end.stderr);
      assert.match(end.stderr, text);
    });
  }

  test("49: remap to 99:100: processes, files; a second boot changes nothing", async (t) => {
    const env = { ...OPEN, HERMES_UID: "99", HERMES_GID: "100" };
    const c = await startContainer(t, { env, args: ["gateway", "run"] });
    await waitReady(c, "gateway-default");
    await waitReady(c, "dashboard");
    assert.equal(await sh(c, "id -u; id -g"), "99\n100");
    assert.equal(
      await sh(c, "ps -eo uid=,args= | awk '/ hermes /{print $1}' | sort -u"),
      "99",
      "every process of ours",
    );
    assert.equal(await sh(c, "find /opt/data ! -user 99 -o ! -group 100"), "");
    assert.equal(await sh(c, COMPILED), "compiled");
    assert.equal(await sh(c, "find /opt/hermes ! -readable -o -type d ! -executable"), "");
    const changed = "find /opt/data -maxdepth 1 -name '[Sc]*' -printf '%p %C@\\n' | sort";
    const before = await sh(c, changed);
    const lines = await bootLines(c);
    await docker(["restart", c.name]);
    await setupDone(c, lines);
    await waitReady(c, "gateway-default");
    assert.match(before, /SOUL\.md/u);
    assert.equal(await sh(c, changed), before);
  });

  test("49: PUID and PGID mean the same; HERMES_UID comes first", async () => {
    const ids = async (env: Record<string, string>) =>
      (await runOnce({ env, args: ["sh", "-c", "id -u; id -g"] })).stdout;
    assert.equal(await ids({ PUID: "1001", PGID: "1002" }), "1001\n1002\n");
    assert.equal(await ids({ PUID: "1001", HERMES_UID: "1003" }), "1003\n10000\n");
    assert.equal(await ids({ HERMES_UID: "", PUID: "" }), "10000\n10000\n");
  });

  test("50: our files are repaired, foreign ones are not; a link is refused", async (t) => {
    const name = await seeded(
      t,
      `cd /opt/data; mkdir -p sessions/deep/er logs foreign; touch auth.json state.db host_secret.json sessions/deep/er/x foreign/y
       chown -R 0:0 .; chmod 600 auth.json host_secret.json; ln -s /etc plugins; ln foreign/y memories-twin; ln -s /etc/passwd .env`,
    );
    const opts = ["--volume", `${name}:/opt/data`];
    const c = await startContainer(t, { opts, args: ["sleep", "300"] });
    const owner = (path: string) => sh(c, `stat -c %U ${path}`);
    for (const path of ["auth.json", "state.db", "sessions/deep/er/x", "."])
      assert.equal(await owner(`/opt/data/${path}`), "hermes", path);
    for (const path of ["host_secret.json", "foreign", "foreign/y"])
      assert.equal(await owner(`/opt/data/${path}`), "root", path);
    assert.equal(await owner("/etc"), "root");
    assert.equal(await owner("/etc/passwd"), "root");
    assert.match(await logs(c), /refusing.*\/opt\/data\/plugins/u);
  });

  test("50: fifty thousand files with the right owner: no ctime changes", async (t) => {
    const name = await seeded(
      t,
      "mkdir -p /opt/data/sessions/many; cd /opt/data/sessions/many; seq 50000 | xargs touch; printf '10000:10000\\n' >/opt/data/.hermes-owner; chown -R hermes:hermes /opt/data; touch -d 2020-01-01 /tmp/mark; touch /opt/data/.mark",
    );
    const opts = ["--volume", `${name}:/opt/data`];
    const c = await startContainer(t, { opts, args: ["sleep", "300"] });
    assert.equal(await sh(c, "find /opt/data/sessions/many | wc -l"), "50001");
    assert.equal(await sh(c, "find /opt/data/sessions/many -cnewer /opt/data/.mark | wc -l"), "0");
  });

  test("51: docker exec as root leaves files of hermes; the opt-out keeps root; other words do not", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    const asRoot = (words: readonly string[], env: Record<string, string> = {}) =>
      // As root, for that is what people type: docker exec CONTAINER hermes …
      dockerExec(c, ["hermes", ...words], { user: "root", env });
    assert.equal((await asRoot(["config", "set", "model.provider", "demo"])).code, 0);
    assert.equal((await asRoot(["profile", "create", "late"])).code, 0);
    for (const word of ["0", "no", "garbage", "2"]) {
      const env = { HERMES_DOCKER_EXEC_AS_ROOT: word };
      assert.equal((await asRoot(["config", "set", "model.default", word], env)).code, 0);
    }
    assert.equal(await sh(c, "find /opt/data -user root"), "");
    const kept = await asRoot(["profile", "create", "rooted"], { HERMES_DOCKER_EXEC_AS_ROOT: "1" });
    assert.ok([0, 3].includes(kept.code), kept.stderr);
    assert.notEqual(await sh(c, "find /opt/data/profiles/rooted -user root"), "");
  });

  test("52: closed to hermes: the install tree, PID 1's directory, /etc; no setuid of ours", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["gateway", "run"] });
    assert.equal(await sh(c, "test -w /run || echo closed"), "closed");
    for (const path of ["/opt/hermes", "/init", "/run/s6", "/etc", "/command", "/usr/bin/tini"])
      assert.equal(await sh(c, `find ${path} ! -type l -writable`), "", path);
    for (const path of ["/opt/hermes/bin/hermes", "/init", "/run/s6/scan/x", "/etc/passwd"]) {
      const end = await dockerExec(c, ["sh", "-c", `echo x >>${path}`]);
      assert.notEqual(end.code, 0, path);
    }
    assert.equal(await sh(c, "find /opt/hermes /init /command -perm /6000"), "");
    assert.equal(await sh(c, "find /opt/hermes /init -perm /022 ! -type l"), "");
  });

  test("52: a slot that hermes writes runs as hermes", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    await sh(
      c,
      `mkdir /run/service/planted && printf '#!/bin/sh\\nid -u >/tmp/planted\\nexec sleep 300\\n' >/run/service/planted/run && chmod +x /run/service/planted/run && /command/s6-svscanctl -a /run/service && /command/s6-svwait -u -t 5000 /run/service/planted`,
    );
    assert.equal(await sh(c, "until [ -s /tmp/planted ]; do :; done; cat /tmp/planted"), "10000");
  });

  test("52: the gateway refuses to be root", async (t) => {
    const c = await startContainer(t, {
      env: { HERMES_DOCKER_EXEC_AS_ROOT: "1" },
      args: ["sleep", "300"],
    });
    // As root, with the opt-out of the CLI: services still refuse.
    const gateway = await dockerExec(c, ["hermes", "gateway", "run", "--no-supervise"], {
      user: "root",
    });
    assert.equal(gateway.code, 78, gateway.stdout + gateway.stderr);
    assert.match(gateway.stderr, /HERMES_ALLOW_ROOT_GATEWAY/u);
    // As root, as above: the dashboard has no opt-out.
    const page = await dockerExec(c, ["hermes", "dashboard", "--host", "127.0.0.1"], {
      user: "root",
      env: { HERMES_ALLOW_ROOT_GATEWAY: "1" },
    });
    assert.equal(page.code, 78, page.stdout + page.stderr);
  });

  test("a group of docker run --group-add is one of hermes", async () => {
    const end = await runOnce({ opts: ["--group-add=4711"], args: ["id", "-G"] });
    assert.match(end.stdout, /\b4711\b/u);
  });

  test("a required step that fails ends the container with one line", async (t) => {
    const c = await startContainer(t, {
      env: { HERMES_HOME_MODE: "rwx" },
      args: ["sleep", "300"],
      waits: false,
    });
    assert.equal(await exitCode(c), 78);
    const lines = (await logs(c)).split("\n").filter((line) => line.includes("HERMES_HOME_MODE"));
    assert.equal(lines.length, 1);
  });
});
