// What the API says of the service of a profile is what its supervisor knows (product.md D8; dashboard.md §11.6).
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask } from "../kit/http.ts";
import { noS6 } from "../kit/s6-gateways.ts";
import { DASHBOARD, openTruthRing, TOKEN } from "../kit/truth-ring.ts";

test(
  "registered after it is made, renamed and described; not after it is deleted",
  { skip: noS6 ?? false },
  async (t) => {
    const ring = await openTruthRing(t);
    await ring.up(DASHBOARD);
    const registered = async (method: string, path: string, body?: object): Promise<unknown> => {
      const answer = await ask(`${ring.dashboardUrl}/api/profiles${path}`, {
        method,
        headers: { "x-hermes-session-token": TOKEN },
        ...(body === undefined ? {} : { body }),
      });
      assert.ok(answer.status < 300, answer.body);
      return answer.json<{ service: { registered: boolean } }>().service.registered;
    };
    const slot = (name: string): boolean => existsSync(join(ring.scandir, `gateway-${name}`));
    assert.equal(await registered("POST", "", { name: "one" }), true);
    assert.equal(slot("one"), true);
    assert.equal(await registered("PATCH", "/one", { description: "One" }), true);
    assert.equal(await registered("PATCH", "/one", { new_name: "two" }), true);
    assert.deepEqual([slot("one"), slot("two")], [false, true]);
    assert.equal(await registered("DELETE", "/two"), false);
    assert.equal(slot("two"), false);
  },
);
