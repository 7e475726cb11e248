import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSlash, SLASH_COMMANDS, slashCommandsOf } from "./slash-commands.ts";

const CASES: readonly (readonly [text: string, found: string])[] = [
  ["/help", "help()"],
  ["/HELP", "help()"],
  ["/reset a title", "new(a title)"],
  ["/st", "? status, stop, steer"],
  ["/sta", "status()"],
  ["/s", "? status, stop, steer, sessions, search"],
  ["/mod gpt-5.5", "model(gpt-5.5)"],
  ["/exit", "quit()"],
  ["/zzz", "unknown zzz"],
  ["/title  two\nlines ", "title(two\nlines)"],
  ["/", "none"],
  ["/usr/bin/env", "none"],
  ["hello /help", "none"],
];

for (const [text, found] of CASES) {
  test(JSON.stringify(text), () => {
    const match = parseSlash(text, "terminal");
    if (match === null) assert.equal("none", found);
    else if (match.kind === "command") assert.equal(`${match.command.name}(${match.args})`, found);
    else if (match.kind === "ambiguous") assert.equal(`? ${match.candidates.join(", ")}`, found);
    else assert.equal(`unknown ${match.word}`, found);
  });
}

test("full names win over prefixes, and no name or alias is taken twice", () => {
  const names = SLASH_COMMANDS.flatMap((entry) => [entry.name, ...entry.aliases]);
  assert.deepEqual(names, [...new Set(names)]);
  for (const entry of SLASH_COMMANDS) {
    const [surface = "terminal"] = entry.surfaces;
    const match = parseSlash(`/${entry.name}`, surface);
    assert.ok(match?.kind === "command" && match.command === entry, entry.name);
  }
});

test("a surface sees its own commands only", () => {
  assert.ok(!slashCommandsOf("web").some((entry) => entry.name === "quit"));
  assert.equal(parseSlash("/quit", "web")?.kind, "unknown");
});
