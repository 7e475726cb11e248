// One owner per list: what derives from the registry of commands must not drift from it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SLASH_COMMANDS } from "#protocol/slash-commands.ts";
import { handledCommands } from "./chat/slash.ts";
import { COMMAND_MODULES } from "./commands.ts";
import { helpTable } from "./help-text.ts";
import { renderCliReference } from "./reference.ts";
import { COMMANDS, GLOBAL_OPTIONS, reservedWords, spellings } from "./registry.ts";

const launcher = readFileSync(join(import.meta.dirname, "../../bin/hermes.mjs"), "utf8");

/** The words of a list in the launcher, which loads nothing and so keeps its own copy. */
function launcherList(name: string): string[] {
  const body = new RegExp(`const ${name} = \\[([^\\]]*)\\]`).exec(launcher)?.[1] ?? "";
  return [...body.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "").sort();
}

function globalSpellings(kinds: readonly string[]): string[] {
  return GLOBAL_OPTIONS.map(spellings)
    .filter((entry) => kinds.includes(entry.value))
    .flatMap((entry) => entry.names)
    .sort();
}

test("the launcher knows the global options", () => {
  assert.deepEqual(launcherList("VALUE_OPTIONS"), globalSpellings(["required"]));
  assert.deepEqual(launcherList("FLAG_OPTIONS"), globalSpellings(["none", "optional"]));
});

test("the launcher parses on any Node: no syntax newer than its oldest reader", () => {
  assert.doesNotMatch(launcher, /\?\.|\?\?|^import |^const .*= await/m);
});

test("every command has a module and the other way round", () => {
  const names = COMMANDS.map((command) => command.name).sort();
  assert.deepEqual(Object.keys(COMMAND_MODULES).sort(), names);
});

test("every slash command has a handler and the other way round", () => {
  const names = SLASH_COMMANDS.filter((entry) => entry.surfaces.includes("terminal")).map(
    (entry) => entry.name,
  );
  assert.deepEqual([...handledCommands()].sort(), names.sort());
});

test("help and reference name every command and option", () => {
  const { texts } = helpTable();
  const reference = renderCliReference();
  for (const command of COMMANDS) {
    // What only the image's scripts call is in the reference, not in the overview.
    assert.equal(texts[""]?.includes(`  ${command.name}`), command.internal !== true, command.name);
    for (const child of [command, ...(command.subcommands ?? [])]) {
      const words = child === command ? command.name : `${command.name} ${child.name}`;
      const text = texts[words] ?? "";
      assert.ok(text.startsWith(`Usage: hermes ${words}`), words);
      assert.ok(reference.includes(`hermes ${words}\n`), words);
      for (const option of child.options ?? []) {
        assert.ok(text.includes(option.flags) && reference.includes(option.flags), option.flags);
      }
    }
  }
});

test("no option is spelled twice on one command", () => {
  for (const command of COMMANDS) {
    for (const child of [command, ...(command.subcommands ?? [])]) {
      const names = [...GLOBAL_OPTIONS, ...(child.options ?? [])].flatMap(
        (option) => spellings(option).names,
      );
      assert.deepEqual(names, [...new Set(names)], child.name);
    }
  }
});

test("words of the command line are reserved for profiles' names, also those to come", () => {
  for (const word of ["chat", "web", "gateway", "cron"])
    assert.ok(reservedWords().includes(word), word);
});
