// The truth matrix on real s6 (issue 5): whatever happens to a service, everybody who speaks of it says the same, true thing.
// Faults that need a container are in test/docker/truth.test.ts.
import assert from "node:assert/strict";
import { chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NO_BROWSER } from "../kit/browser.ts";
import { noS6 } from "../kit/s6-gateways.ts";
import { endHelper, FAULTS, WELL } from "../kit/truth-faults.ts";
import { type Cell, type Fault, observe } from "../kit/truth-matrix.ts";
import { pageObserver } from "../kit/truth-page.ts";
import { DASHBOARD, FLAKY, GATEWAY, openTruthRing, type TruthRing } from "../kit/truth-ring.ts";
import { buildWebApp } from "../kit/web-app.ts";

const skip = noS6 ?? false;

/** Everything as before the fault, by the product's own command where there is one. */
async function heal(ring: TruthRing, fault: Fault): Promise<void> {
  await fault.undo?.(ring);
  ring.shiftClock(0);
  for (const slot of [GATEWAY, DASHBOARD]) ring.play(slot, null);
  if (fault.heals !== true) {
    await reviveDashboard(ring);
    const { code, stderr } = await ring.run("gateway", "restart");
    assert.equal(code, 0, `after "${fault.name}": ${stderr}`);
  }
  await Promise.all([ring.up(GATEWAY), ring.up(DASHBOARD)]);
}

/** What the start of a service does (container.md §6.7): a dashboard that is down offers no button for it. */
async function reviveDashboard(ring: TruthRing): Promise<void> {
  const dir = join(ring.scandir, DASHBOARD);
  const { ready, wantedUp } = await ring.raw(DASHBOARD);
  if (ready && (await ring.answers(DASHBOARD))) return;
  rmSync(join(dir, "data", "backoff"), { force: true });
  writeFileSync(join(dir, "data", "asked"), String(Date.now()));
  chownSync(join(dir, "data", "asked"), ring.uid, ring.uid);
  await ring.tool("s6-svc", wantedUp ? "-r" : "-u", dir);
}

function report(cells: readonly Cell[]): readonly string[] {
  return cells.flatMap(({ fault, observer, lie }) =>
    lie === null ? [] : [`${fault}: ${observer} ${lie}`],
  );
}

test("the truth matrix: faults × observers, no lie", { skip }, async (t) => {
  t.after(endHelper);
  // Without a browser the page is left out, by name.
  const webDist = NO_BROWSER === false ? await buildWebApp() : undefined;
  if (NO_BROWSER !== false) t.diagnostic(`services page: left out: ${NO_BROWSER}`);
  const ring = await openTruthRing(t, webDist === undefined ? {} : { webDist });
  await Promise.all([ring.up(GATEWAY), ring.up(DASHBOARD)]);
  const more = webDist === undefined ? [] : [await pageObserver(t, ring)];
  await ring.run("profile", "create", "flaky", "--no-alias");
  ring.play(FLAKY, "exit 3 10000");
  assert.equal((await ring.run("-p", "flaky", "gateway", "start")).code, 0);
  const cells: Cell[] = [];
  for (const fault of FAULTS) {
    await fault.inflict(ring);
    cells.push(...(await observe(ring, fault, more)));
    if (fault.isLast !== true) await heal(ring, fault);
  }
  const lies = report(cells);
  t.diagnostic(`truth matrix: ${cells.length} cells, ${lies.length} lies`);
  assert.deepEqual(lies, []);
});

test("the truth matrix: a dashboard that is off", { skip }, async (t) => {
  const ring = await openTruthRing(t, { dashboard: false });
  await ring.up(GATEWAY);
  const cells = await observe(ring, {
    name: "disabled",
    inflict: async () => undefined,
    truth: { ...WELL, dashboard: "disabled" },
  });
  const lies = report(cells);
  t.diagnostic(`truth matrix: ${cells.length} cells, ${lies.length} lies`);
  assert.deepEqual(lies, []);
});
