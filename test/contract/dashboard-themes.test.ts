// Themes of the user over HTTP: who may see what, and what may be chosen (dashboard.md §11.7, §12.5).
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ThemesBody } from "#protocol/http-status.ts";
import type { ThemeProblemsBody } from "#protocol/theme.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { ask } from "../kit/http.ts";

test("a theme of the user is listed and can be chosen; a broken one is told to who is logged in only", async (t) => {
  const dashboard = await openDashboard(t);
  const folder = join(dashboard.home, "dashboard-themes");
  mkdirSync(folder);
  writeFileSync(join(folder, "own.yaml"), "name: own\nlabel: My own\nlayout: {density: dense}\n");
  writeFileSync(join(folder, "torn.yaml"), "name: [\n");

  const stranger = await ask(`${dashboard.url}/api/dashboard/themes/problems`);
  assert.equal(stranger.status, 401);
  const answer = await dashboard.ask("/api/dashboard/themes/problems");
  const problems = answer.json<ThemeProblemsBody>();
  assert.deepEqual(
    problems.broken.map(({ file }) => file),
    ["torn.yaml"],
  );
  assert.deepEqual(
    problems.warnings.map(({ theme }) => theme),
    ["own"],
  );

  const list = await ask(`${dashboard.url}/api/dashboard/themes`);
  assert.equal(list.status, 200);
  const own = list.json<ThemesBody>().themes.find(({ name }) => name === "own");
  assert.equal(own?.label, "My own");
  assert.equal(own?.definition?.layout.density, "comfortable");
  assert.ok(!list.body.includes("torn"));

  const choose = (name: string) =>
    dashboard.ask("/api/dashboard/theme", { method: "PUT", body: { name } });
  assert.equal((await choose("own")).status, 200);
  assert.equal((await choose("torn")).status, 404);
});
