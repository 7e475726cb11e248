// The router with the command line's own parser (container.md §4): rows that depend on what our commands are.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type RouteFacts, route } from "#container/route.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { classify, isCommand } from "./classify.ts";
import { isProgram } from "./program.ts";

const FACTS: RouteFacts = {
  isTerminal: false,
  supervised: true,
  noSupervise: false,
  isProgram: () => true,
  isCommand,
  classify,
};

const ROWS: readonly (readonly [words: readonly string[], role: string, profile?: string])[] = [
  [["--version"], "instant"],
  [["-V"], "instant"],
  [["version"], "instant"],
  [["help"], "instant"],
  [["help", "chat"], "instant"],
  [["--help"], "instant"],
  [["chat", "--help"], "instant"],
  [["gateway", "run", "-h"], "instant"],
  [["-p", "x", "gateway", "run", "--help"], "instant", "x"],
  [["chat", "-q", "hi"], "command"],
  [["-q", "hi"], "command"],
  [["-z", "hi"], "command"],
  [["--tui"], "command"],
  [["status", "--json"], "command"],
  [["doctor"], "command"],
  [["gateway", "run"], "gateway"],
  [["gateway"], "gateway"],
  [["-p", "coder", "gateway", "run"], "gateway", "coder"],
  [["gateway", "run", "-p", "Coder"], "gateway", "coder"],
  [["--profile=coder", "gateway", "run"], "gateway", "coder"],
  [["gateway", "run", "--profile", "coder"], "gateway", "coder"],
  [["-p", "../x", "gateway", "run"], "instant"],
  [["-p"], "instant"],
  [["gateway", "run", "--no-supervise"], "gateway-foreground"],
  [["gateway", "start"], "command"],
  [["gateway", "run", "--nonsense"], "instant"],
  [["dashboard", "--host", "0.0.0.0", "--insecure"], "dashboard"],
  [["supervise"], "supervise"],
  [["chat", "--nonsense"], "instant"],
];

for (const [words, role, profile = "default"] of ROWS) {
  test(`hermes ${words.join(" ")} has role ${role}`, async () => {
    const routing = await route(["hermes", ...words], FACTS);
    assert.deepEqual({ role: routing.role, profile: routing.profile }, { role, profile });
  });
}

test("every word of ours is a command although PATH has such a program", async () => {
  for (const word of ["status", "chat", "gateway", "logs"])
    assert.notEqual((await route([word], FACTS)).kind, "program", word);
});

test("a program is an executable file on PATH", (t) => {
  const dir = tempDir(t);
  writeFileSync(join(dir, "tool"), "#!/bin/sh\n");
  writeFileSync(join(dir, "text"), "");
  chmodSync(join(dir, "tool"), 0o755);
  mkdirSync(join(dir, "folder"));
  const path = `/nowhere::${dir}`;
  const found = ["tool", "text", "folder", "", ".", "..", "if", "cd"].filter((word) =>
    isProgram(word, path),
  );
  assert.deepEqual(found, ["tool"]);
  assert.equal(isProgram("tool", undefined), false);
});
