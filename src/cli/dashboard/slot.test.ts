import assert from "node:assert/strict";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { dashboardWords } from "./slot.ts";

const CASES: readonly (readonly [env: Readonly<Record<string, string>>, words: string])[] = [
  [{}, "--host 0.0.0.0 --port 9119"],
  [{ HERMES_DASHBOARD_HOST: "", HERMES_DASHBOARD_PORT: "" }, "--host 0.0.0.0 --port 9119"],
  [
    { HERMES_DASHBOARD_HOST: "127.0.0.1", HERMES_DASHBOARD_PORT: "9120" },
    "--host 127.0.0.1 --port 9120",
  ],
  [{ HERMES_DASHBOARD_INSECURE: "yes" }, "--host 0.0.0.0 --port 9119 --insecure"],
  [{ HERMES_DASHBOARD_INSECURE: "2" }, "--host 0.0.0.0 --port 9119"],
];

for (const [env, words] of CASES) {
  test(`the slot's dashboard: ${JSON.stringify(env)}`, () => {
    assert.equal(dashboardWords(env).join(" "), `dashboard --no-open ${words}`);
  });
}

test("a Kubernetes service link is refused for good", () => {
  assert.throws(
    () => dashboardWords({ HERMES_DASHBOARD_PORT: "tcp://10.0.0.1:80" }),
    (error) => isHermesError(error, "SERVICE_LINK") && error.exit === 78,
  );
});
