// What the HEALTHCHECK says of each kind of container in each trouble, and how it gets well again (container.md §14, row 60;
// dashboard.md §13; field-rules I05).
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  hermes,
  noEngine,
  removeAll,
  serviceOf,
  sh,
  startContainer,
  waitFor,
  waitReady,
  type Container,
} from "../kit/docker.ts";

/** The gate is not what these kinds are about: they need a page that answers. */
const OPEN = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };
const GATED = {
  HERMES_DASHBOARD: "1",
  HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "admin",
  HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "correct horse battery",
};
const LOOPBACK = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_HOST: "127.0.0.1" };
const GATEWAY = "gateway-default";
const DASHBOARD = "dashboard";
const BROKEN = "terminal:\n  backend: docker\n";

interface Kind {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** The services that must be well. */
  readonly essential: readonly string[];
  readonly others: readonly string[];
}

const KINDS: readonly Kind[] = [
  { name: "gateway", env: {}, args: ["gateway", "run"], essential: [GATEWAY], others: [] },
  { name: "dashboard on loopback", env: LOOPBACK, args: [], essential: [DASHBOARD], others: [] },
  { name: "dashboard behind the gate", env: GATED, args: [], essential: [DASHBOARD], others: [] },
  {
    name: "gateway and dashboard",
    env: OPEN,
    args: ["gateway", "run"],
    essential: [GATEWAY],
    others: [DASHBOARD],
  },
  {
    name: "a command beside a dashboard",
    env: OPEN,
    args: ["sleep", "300"],
    essential: [],
    others: [DASHBOARD],
  },
];

const slot = (name: string): string => `/run/service/${name}`;

async function health(c: Container, code: number, line: RegExp): Promise<void> {
  await waitFor(
    c,
    `probe --self to be ${code} and to say ${line.source}`,
    async () => {
      const end = await hermes(c, "probe", "--self");
      return (
        end.code === code && line.test(end.stdout) && end.stdout.trim().split("\n").length === 1
      );
    },
    30_000,
  );
}

/** It dies for good: as s6 alone can do it, behind the back of every command of ours. */
const killed = (c: Container, name: string) => sh(c, `/command/s6-svc -dk ${slot(name)}`);

type Way = (c: Container, name: string) => Promise<unknown>;
const bySlot: Way = (c, name) => sh(c, `/command/s6-svc -u ${slot(name)}`);
const byCommand: Way = (c) => hermes(c, "gateway", "start");

suite("container: health", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  for (const kind of KINDS) {
    test(`60: ${kind.name}: well, killed, refused, and well again`, async (t) => {
      const c = await startContainer(t, { env: kind.env, args: kind.args });
      const all = [...kind.essential, ...kind.others];
      for (const name of all) await waitReady(c, name);
      await health(c, 0, /./u);
      for (const name of all) {
        const code = kind.essential.includes(name) ? 1 : 0;
        // Deaths within a short time are a crash loop: the dashboard, which no command of ours starts, dies once here.
        for (const back of name === GATEWAY ? [byCommand, bySlot] : [bySlot]) {
          await killed(c, name);
          await health(c, code, new RegExp(`${name} (?!ready)[a-z]+`, "u"));
          await back(c, name);
          await health(c, 0, new RegExp(`${name} ready`, "u"));
        }
        const { pid } = await waitReady(c, name);
        await sh(c, `kill -9 ${pid ?? 0}`);
        await health(c, 0, new RegExp(`${name} ready`, "u"));
        assert.notEqual((await waitReady(c, name)).pid, pid);
        await sh(
          c,
          `cp /opt/data/config.yaml /tmp/good; printf '${BROKEN}' >/opt/data/config.yaml`,
        );
        await sh(c, `/command/s6-svc -r ${slot(name)}`);
        await waitFor(c, "refused", async () => (await serviceOf(c, name)).state === "refused");
        await health(c, code, new RegExp(`${name} refused`, "u"));
        await sh(c, "cp /tmp/good /opt/data/config.yaml");
        await sh(c, `/command/s6-svc -u ${slot(name)}`);
        await health(c, 0, new RegExp(`${name} ready`, "u"));
      }
    });
  }

  test("60: well again after a restart by the API", async (t) => {
    const c = await startContainer(t, { env: OPEN, args: ["gateway", "run"] });
    const { pid } = await waitReady(c, GATEWAY);
    await waitReady(c, DASHBOARD);
    const ask = `
      const page = await (await fetch("http://127.0.0.1:9119/")).text();
      const token = /__HERMES_SESSION_TOKEN__\\s*=\\s*"([^"]+)"/.exec(page)[1];
      const headers = { "x-hermes-session-token": token, "content-type": "application/json" };
      const answer = await fetch("http://127.0.0.1:9119/api/gateway/restart", { method: "POST", headers, body: "{}" });
      console.log(answer.status);`;
    const status = await sh(c, `node --input-type=module -e '${ask}'`);
    assert.match(status, /^20[02]$/u);
    await waitFor(c, "another pid", async () => {
      const now = await serviceOf(c, GATEWAY);
      return now.state === "ready" && now.pid !== pid;
    });
    await health(c, 0, /gateway-default ready/u);
  });
});
