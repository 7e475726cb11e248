// Bad input at a start of the container: one plain line each, the right exit code, nothing lost (issue 4; container.md §3, §14).
// Broken settings, other users, noexec /run and volumes that cannot be written are in users.test.ts and volume.test.ts.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  docker,
  hermes,
  IMAGE,
  logs,
  noEngine,
  removeAll,
  runOnce,
  serviceOf,
  sh,
  startContainer,
  volume,
  waitFor,
  waitReady,
} from "../kit/docker.ts";

/** The gate is not what these tests are about: they need a page that answers. */
const OPEN = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };

/** Root writes what no user of the container could: that is what an earlier life of the volume left. */
async function plant(name: string, script: string): Promise<void> {
  const words = ["run", "--rm", "--user=root", "--entrypoint=sh", "--volume", `${name}:/opt/data`];
  const end = await docker([...words, IMAGE, "-c", script]);
  assert.equal(end.code, 0, end.stderr);
}

const lines = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

suite("container: bad input", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("a full disk: 78 and one line that says so", async () => {
    const opts = ["--mount=type=tmpfs,destination=/opt/data,tmpfs-size=4096,tmpfs-mode=0777"];
    const end = await runOnce({ opts, args: ["true"] });
    assert.equal(end.code, 78);
    assert.match(end.stderr, /^\[boot\] error \/opt\/data cannot be written .*ENOSPC.* Make room/u);
    assert.equal(lines(end.stderr).length, 1, end.stderr);
  });

  test("a nearly full disk: the command runs, each file is whole or absent, and doctor says it", async (t) => {
    const opts = ["--mount=type=tmpfs,destination=/opt/data,tmpfs-size=8192,tmpfs-mode=0777"];
    const c = await startContainer(t, { opts, env: OPEN, args: ["sleep", "300"], waits: false });
    // Not refused: it starts by itself when there is room.
    await waitFor(
      c,
      "a crash loop",
      async () => (await serviceOf(c, "dashboard")).state === "crash-looping",
    );
    assert.match(await logs(c), /\[dashboard\] hermes: .*ENOSPC.*\n.*[Mm]ake room|disk is full/u);
    const empty = await sh(c, "find /opt/data -maxdepth 1 -type f -empty ! -name '*.lock'");
    assert.equal(empty, "");
    const told = await hermes(c, "doctor");
    assert.equal(told.code, 1);
    assert.match(told.stdout, /^\d+\. .*ENOSPC/mu);
    assert.equal(await sh(c, "find /opt/data -name '*.seed' -o -name '*.tmp'"), "");
  });

  test("an .env that only root may read is given back to hermes, and its values count", async (t) => {
    const name = await volume(t);
    await plant(
      name,
      "echo OPENROUTER_API_KEY=sk-or-planted >/opt/data/.env; chmod 000 /opt/data/.env",
    );
    const opts = ["--volume", `${name}:/opt/data`];
    const c = await startContainer(t, { opts, args: ["sleep", "300"] });
    assert.equal(await sh(c, "stat -c '%U %a' /opt/data/.env"), "hermes 600");
    assert.match((await hermes(c, "status")).stdout, /^keys .*OPENROUTER_API_KEY/mu);
  });

  test("an .env that is a folder: the dashboard is refused with the file's name, and nothing of it is touched", async (t) => {
    const name = await volume(t);
    await plant(name, "mkdir /opt/data/.env; echo kept >/opt/data/.env/file");
    const opts = ["--volume", `${name}:/opt/data`];
    const c = await startContainer(t, { opts, env: OPEN, args: ["sleep", "300"] });
    const service = await waitFor(c, "refused", async () => {
      const now = await serviceOf(c, "dashboard");
      return now.state === "refused" ? now : null;
    });
    assert.match(service.reason ?? "", /\/opt\/data\/\.env cannot be read: EISDIR/u);
    const chat = await hermes(c, "chat", "-q", "hi");
    assert.deepEqual([chat.code, chat.stdout], [78, ""]);
    assert.equal(lines(chat.stderr).length, 1, chat.stderr);
    assert.equal(await sh(c, "cat /opt/data/.env/file"), "kept");
  });

  test("32, 50: links planted in the volume are not written through, and said", async (t) => {
    const name = await volume(t);
    await plant(
      name,
      `mkdir /opt/data/out; cd /opt/data
       echo kept >out/secret; chmod 600 out/secret; chown -R root:root out
       ln -s out/none SOUL.md; ln -s out/secret config.yaml; ln -s out/nothing .env; ln -s out/nothing gateway_state.json; ln -s out logs
       chown -h hermes:hermes /opt/data`,
    );
    const opts = ["--volume", `${name}:/opt/data`];
    const env = { HERMES_GATEWAY_BOOTSTRAP_STATE: "running" };
    const c = await startContainer(t, { opts, env, args: ["sleep", "300"], waits: false });
    const told = await waitFor(c, "the refusals", async () => {
      const text = await logs(c);
      return text.includes("logs") && text.includes("gateway_state.json") ? text : null;
    });
    for (const file of ["SOUL.md", ".env", "gateway_state.json", "logs"]) {
      assert.match(told, new RegExp(`\\[boot\\] warn refusing .*/opt/data/${file}`, "u"));
    }
    await plant(
      name,
      'cd /opt/data/out; [ "$(cat secret)" = kept ] && [ "$(ls -A)" = secret ] && [ "$(stat -c %U secret)" = root ]',
    );
  });

  test("a port that is taken: a crash loop that names its holder; the gateway is unharmed", async (t) => {
    const c = await startContainer(t, {
      env: { ...OPEN, HERMES_DASHBOARD_PORT: "9122" },
      args: [
        "node",
        "-e",
        `require("net").createServer().listen(9122); require("fs").writeFileSync("/tmp/up", "")`,
      ],
    });
    const service = await waitFor(c, "a crash loop", async () => {
      const now = await serviceOf(c, "dashboard");
      return now.state === "crash-looping" ? now : null;
    });
    assert.ok(service.restarts >= 3, `${service.restarts}`);
    assert.match(await logs(c), /\[dashboard\] hermes: Port 9122 is in use by pid \d+ \(node/u);
    assert.equal((await hermes(c, "gateway", "start")).code, 0);
    await waitReady(c, "gateway-default");
    assert.equal(await sh(c, "cat /proc/1/comm"), "s6-svscan");
  });

  test("names of variables that nothing reads are said once, with the nearest one; the boot goes on", async () => {
    const env = { HERMES_DASHBOARD_HOSTT: "0.0.0.0", HERMES_GATEWAY_PROFILE: "a" };
    const end = await runOnce({ env, args: ["sh", "-c", "exit 4"] });
    assert.equal(end.code, 4);
    assert.deepEqual(lines(end.stderr).toSorted(), [
      "[boot] warn HERMES_DASHBOARD_HOSTT is not used: did you mean HERMES_DASHBOARD_HOST?",
      "[boot] warn HERMES_GATEWAY_PROFILE is not used: did you mean HERMES_GATEWAY_PROFILES?",
    ]);
  });
});
