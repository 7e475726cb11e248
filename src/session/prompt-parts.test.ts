// Files of the prompt that are not what they seem.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadConfig } from "#config/load.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { readPromptParts } from "./prompt-parts.ts";

function setUp(t: TestContext) {
  const root = tempDir(t);
  const [home, project, user] = ["home", "project", "user"].map((name) => join(root, name));
  for (const folder of [home, project, user]) mkdirSync(folder ?? "");
  return { home: home ?? "", project: project ?? "", user: user ?? "" };
}

function read({ home, project, user }: ReturnType<typeof setUp>) {
  const notices: string[] = [];
  const loaded = loadConfig({ home, processEnv: { HOME: user } });
  const facts = { loaded, cwd: project, safeMode: false, toolNames: [], nowMs: 0 };
  return { parts: readPromptParts(facts, (text) => notices.push(text)), notices };
}

test("a project's file that leads to a secret is left out and named, the next one counts", (t) => {
  const place = setUp(t);
  mkdirSync(join(place.user, ".ssh"));
  writeFileSync(join(place.user, ".ssh", "id_ed25519"), "private");
  writeFileSync(join(place.home, ".env"), "OPENAI_API_KEY=sk-very-secret-1\n");
  symlinkSync("../home/.env", join(place.project, "HERMES.md"));
  symlinkSync("../user/.ssh/id_ed25519", join(place.project, "AGENTS.md"));
  writeFileSync(join(place.project, "notes"), "use tabs");
  symlinkSync("notes", join(place.project, "CLAUDE.md"));
  const { parts, notices } = read(place);
  assert.deepEqual(parts.context, { name: "CLAUDE.md", text: "use tabs" });
  assert.equal(notices.length, 2);
  for (const name of ["HERMES.md", "AGENTS.md"]) {
    assert.ok(
      notices.some((text) => text.includes(`${name} was left out of the prompt: it leads`)),
    );
  }
});

test("pipes and devices are not waited for", (t) => {
  const place = setUp(t);
  mkdirSync(join(place.home, "memories"));
  execFileSync("mkfifo", [join(place.home, "memories", "MEMORY.md"), join(place.home, "SOUL.md")]);
  execFileSync("mkfifo", [join(place.project, "HERMES.md")]);
  symlinkSync("/dev/zero", join(place.project, "AGENTS.md"));
  const { parts, notices } = read(place);
  assert.deepEqual([parts.soul, parts.context, parts.memory], [null, null, null]);
  assert.match(notices.join("\n"), /MEMORY\.md cannot be read \(it is no file\)/);
});
