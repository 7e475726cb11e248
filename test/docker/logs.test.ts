// Logs of the slots (container.md §6.5, §14 rows 53 and 54).
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  dockerExec,
  logs,
  noEngine,
  removeAll,
  runOnce,
  sh,
  startContainer,
  volume,
  waitFor,
  waitReady,
} from "../kit/docker.ts";

const SLOTS = ["gateway-a", "gateway-b", "gateway-c", "gateway-d"];
const LINES = 5000;

/** A slot as setup makes it, whose program writes `LINES` long lines and then waits. */
const writer = (slot: string): string => `
  d=/run/service/.new-${slot}; mkdir -p $d/log
  printf '#!/bin/sh\\nx=$(head -c 880 /dev/zero | tr "\\\\0" x)\\nseq -f "${slot} %%05g $x end" 1 ${LINES}\\nexec sleep 300\\n' >$d/run
  chmod 755 $d/run; ln -s /opt/hermes/libexec/slot/log-run $d/log/run; echo 3 >$d/log/notification-fd
  mv $d /run/service/${slot}`;

suite("container: logs", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("53: four slots that write at once: every line whole, none lost, in docker logs and in the files", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    const made = await dockerExec(c, ["sh", "-ec", SLOTS.map(writer).join("\n")]);
    assert.equal(made.code, 0, made.stderr);
    await sh(c, "/command/s6-svscanctl -a /run/service");
    const whole = /^\[(gateway-[a-d])\] {1,2}\1 (\d{5}) x{880} end$/u;
    const lines = await waitFor(c, "all lines in docker logs", async () => {
      const seen = (await logs(c)).split("\n").filter((line) => line.includes("xxx"));
      return seen.length >= SLOTS.length * LINES ? seen : null;
    });
    assert.deepEqual(
      lines.filter((line) => !whole.test(line)).map((line) => line.slice(0, 80)),
      [],
    );
    assert.equal(
      new Set(lines.map((line) => whole.exec(line)?.slice(1).join())).size,
      lines.length,
    );
    for (const slot of SLOTS) {
      const folder = `/opt/data/logs/gateways/${slot.replace("gateway-", "")}`;
      const count = await sh(c, `cat ${folder}/* | grep -c '^[0-9-]* [0-9:.]* *${slot} .* end$'`);
      assert.equal(Number(count), LINES, slot);
    }
  });

  test("54: a log directory that takes no writes: ready all the same, lines in docker logs, one warning", async (t) => {
    const name = await volume(t);
    const opts = ["--volume", `${name}:/opt/data`];
    const close =
      "mkdir -p /opt/data/logs/gateways/default && chmod 500 /opt/data/logs/gateways/default";
    assert.equal((await runOnce({ opts, args: ["sh", "-c", close] })).code, 0);
    const c = await startContainer(t, { opts, args: ["sleep", "300"] });
    await waitFor(c, "the gateway's start", async () => {
      const start = await dockerExec(c, ["hermes", "gateway", "start"]);
      if (start.code !== 0) throw new Error(start.stderr);
      return true;
    });
    await waitReady(c, "gateway-default");
    const said = (await logs(c)).split("\n");
    assert.ok(said.some((line) => /^\[gateway-default\] .*running/u.test(line)));
    const warnings = said.filter((line) => line.includes("cannot be written or is in use"));
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0] ?? "", /\/opt\/data\/logs\/gateways\/default/u);
  });

  test("54: a log directory that another container holds", async (t) => {
    const name = await volume(t);
    const start = { opts: ["--volume", `${name}:/opt/data`], args: ["sleep", "300"] };
    await startContainer(t, start);
    const second = await startContainer(t, { ...start, waits: false });
    await waitFor(second, "the warning", async () =>
      /^\[dashboard\] warning: .*is in use/mu.test(await logs(second)),
    );
  });
});
