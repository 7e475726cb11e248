// The truth matrix in a container (issue 5): faults that only a whole process tree, its PID 1 and its volume can have.
import assert from "node:assert/strict";
import { after, suite, test, type TestContext } from "node:test";
import {
  dockerExec,
  noEngine,
  removeAll,
  sh,
  startContainer,
  waitFor,
  waitReady,
  type Container,
} from "../kit/docker.ts";
import { freePort } from "../kit/free-port.ts";
import { ask } from "../kit/http.ts";
import { WELL } from "../kit/truth-faults.ts";
import { observe, type Cell, type Fault } from "../kit/truth-matrix.ts";
import { DASHBOARD, GATEWAY, TOKEN, type TruthRing } from "../kit/truth-ring.ts";

const KEY = "truth-0123456789abcdef";
const VOLUME_BYTES = 8 * 1024 * 1024;

/** What the observers need of a ring; the faults of this file reach the container by themselves. */
type Asked = Pick<TruthRing, "run" | "answers" | "dashboardUrl">;

async function openContainer(t: TestContext): Promise<{ c: Container; ring: TruthRing }> {
  // The same port inside and outside: one address is true for both.
  const port = await freePort();
  const c = await startContainer(t, {
    opts: [
      `-p=127.0.0.1:${port}:${port}`,
      `--mount=type=tmpfs,destination=/opt/data,tmpfs-size=${VOLUME_BYTES},tmpfs-mode=0777`,
    ],
    env: {
      // The gate is not what this matrix is about: its observers need an address that answers them.
      HERMES_DASHBOARD: "1",
      HERMES_DASHBOARD_INSECURE: "1",
      HERMES_DASHBOARD_PORT: String(port),
      HERMES_DASHBOARD_SESSION_TOKEN: TOKEN,
      API_SERVER_KEY: KEY,
    },
    args: ["gateway", "run"],
  });
  const ready = await dockerExec(c, ["sh", "-c", "hermes model --demo && hermes gateway restart"]);
  assert.equal(ready.code, 0, ready.stderr);
  await Promise.all([waitReady(c, GATEWAY), waitReady(c, DASHBOARD)]);
  const dashboardUrl = `http://127.0.0.1:${port}`;
  const gateway = `fetch("http://127.0.0.1:8642/v1/models", { headers: { authorization: "Bearer ${KEY}" } }).then(({ status }) => console.log(status))`;
  const asked: Asked = {
    dashboardUrl,
    async run(...args) {
      const { code, stdout, stderr } = await dockerExec(c, ["hermes", ...args]);
      return { code, stdout, stderr, signal: null };
    },
    async answers(slot) {
      if (slot === GATEWAY) return (await sh(c, `node -e '${gateway}'`)) === "200";
      const answer = await ask(`${dashboardUrl}/api/health`).catch(() => null);
      return answer?.status === 200;
    },
  };
  return { c, ring: asked as TruthRing };
}

const pidOf = (c: Container, slot: string): Promise<string> =>
  sh(c, `/command/s6-svstat -o pid /run/service/${slot}`);

function faultsOf(c: Container): readonly Fault[] {
  const pids = async () => [await pidOf(c, GATEWAY), await pidOf(c, DASHBOARD)];
  const bothReady = () => Promise.all([waitReady(c, GATEWAY), waitReady(c, DASHBOARD)]);
  return [
    { name: "nothing wrong", inflict: async () => undefined, truth: WELL },
    {
      name: "disk full, while everything runs",
      async inflict() {
        await sh(c, "dd if=/dev/zero of=/opt/data/workspace/filler bs=64k 2>/dev/null; true");
        const left = await sh(c, "df --output=avail /opt/data | tail -n 1");
        assert.equal(left, "0");
      },
      truth: WELL,
    },
    {
      name: "disk full, and the gateway dies",
      async inflict() {
        const pid = await pidOf(c, GATEWAY);
        await sh(c, `kill -9 ${pid}`);
        // The restart before it counts as no crash.
        await waitFor(c, "three crashes", async () => {
          const deaths = await sh(c, `/command/s6-svdt /run/service/${GATEWAY}`);
          return deaths.split("\n").filter((line) => !line.endsWith(" exitcode 75")).length >= 3;
        });
      },
      truth: { ...WELL, gateway: "crash-looping", word: "startup_failed", healthy: false },
      async undo() {
        // It comes back by itself as soon as there is room.
        await sh(c, "rm /opt/data/workspace/filler");
        await bothReady();
      },
    },
    {
      name: "kill -9 of the nested s6-svscan",
      async inflict() {
        const before = await pids();
        await sh(c, "pkill -9 -u hermes -x s6-svscan");
        await waitFor(c, "other processes", async () => {
          const now = await pids();
          return now.every((pid, index) => pid !== "-1" && pid !== before[index]);
        });
        await bothReady();
      },
      truth: WELL,
    },
    {
      name: "kill -9 of PID 1's child that set up and waits for the command",
      async inflict() {
        // Root: it is root's. The bracket keeps pgrep from finding this shell.
        const line = "kill -9 $(pgrep -f 'libexec/[s]tage2')";
        assert.equal((await dockerExec(c, ["sh", "-c", line], { user: "root" })).code, 0);
        await waitFor(
          c,
          "its end",
          async () => (await sh(c, "pgrep -f 'libexec/[s]tage2'")) === "",
        );
      },
      truth: WELL,
    },
  ];
}

suite("container: truth", { skip: noEngine }, () => {
  after(removeAll);

  test("the truth matrix: faults of a container × observers, no lie", async (t) => {
    const { c, ring } = await openContainer(t);
    const cells: Cell[] = [];
    for (const fault of faultsOf(c)) {
      await fault.inflict(ring);
      cells.push(...(await observe(ring, fault)));
      await fault.undo?.(ring);
    }
    const lies = cells.flatMap(({ fault, observer, lie }) =>
      lie === null ? [] : [`${fault}: ${observer} ${lie}`],
    );
    t.diagnostic(`truth matrix: ${cells.length} cells, ${lies.length} lies`);
    assert.deepEqual(lies, []);
  });
});
