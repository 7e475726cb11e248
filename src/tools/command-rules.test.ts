// Every example of hard-block.json and dangerous.json, plain and in disguise (agent.md §12.2 row 22).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileRules, type CommandMatcher, type RuleNames } from "./command-rules.ts";
import { normaliseShell } from "./normalise.ts";
import { DANGEROUS, HARD_BLOCK, type CommandRule } from "./policy.ts";

const names: RuleNames = {
  HOME: "/data/hermes/profiles/work",
  ROOT: "/data/hermes",
  USERHOME: "/home/user",
  PID: "4242",
  HOST: "box-1",
};
const facts = {
  cwd: "/srv/project",
  userHome: names.USERHOME,
  env: { PATH: "/usr/bin:/bin", HERMES_HOME: names.HOME },
  pid: 4242,
};

const fill = (example: string): string =>
  example.replace(
    /\{([A-Z]+)\}/g,
    (all, name: string) => ({ ...names })[name as keyof RuleNames] ?? all,
  );

const hits = (matcher: CommandMatcher, command: string): readonly string[] =>
  matcher.match(normaliseShell(command, facts)).map((hit) => hit.id);

/** Other spellings of the same command. */
const disguises: Readonly<Record<string, (command: string) => string>> = {
  "bash -c": (command) => `bash -c ${quoted(command)}`,
  "sh -lc in sudo": (command) => `sudo -u root sh -lc ${quoted(command)}`,
  eval: (command) => `eval ${quoted(command)}`,
  "$(…)": (command) => `echo "$(${command}\n)"`,
  backticks: (command) => `echo \`${command.replace(/[\\`$]/g, "\\$&")}\``,
  base64: (command) => `echo ${Buffer.from(command).toString("base64")} | base64 -d | sh`,
  "base64 in sh -c": (command) =>
    `sh -c "$(base64 -d <<< ${Buffer.from(command).toString("base64")})"`,
  "here-document": (command) => `bash <<'END_OF_SCRIPT'\n${command}\nEND_OF_SCRIPT`,
  "after others": (command) => `cd . && true; false || ${command}`,
  "in a loop": (command) => `for i in 1 2; do\n${command}\ndone`,
  "python os.system": (command) =>
    `python3 -c ${quoted(`import os; os.system(${JSON.stringify(command)})`)}`,
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** `$PPID` and `$HOME` would be gone after Python's quoting, `\0` is no text of an argument. */
const fits = (disguise: string, command: string): boolean =>
  disguise !== "python os.system" || !/[\\'"$\n]/.test(command);

function suite(name: string, rules: readonly CommandRule[]): void {
  void describe(name, () => {
    const matcher = compileRules(name, rules, names);
    for (const rule of rules) {
      const id = `${name}/${rule.id}`;
      void it(`${rule.id}: blocks its examples, in every disguise`, () => {
        assert.ok(rule.blocks.length > 0, "a rule needs examples");
        for (const example of rule.blocks.map(fill)) {
          assert.ok(hits(matcher, example).includes(id), `should match: ${example}`);
          for (const [disguise, apply] of Object.entries(disguises)) {
            if (!fits(disguise, example) || rule.id === "too-complex") continue;
            const command = apply(example);
            assert.ok(
              hits(matcher, command).includes(id),
              `should match as ${disguise}: ${command}`,
            );
          }
        }
      });
      void it(`${rule.id}: lets its counter-examples pass`, () => {
        assert.ok(rule.allows.length > 0, "a rule needs counter-examples");
        for (const example of rule.allows.map(fill)) {
          assert.ok(!hits(matcher, example).includes(id), `should not match: ${example}`);
        }
      });
    }
    void it("has unique ids", () => {
      assert.equal(new Set(rules.map((rule) => rule.id)).size, rules.length);
    });
  });
}

suite("hard-block", HARD_BLOCK);
suite("dangerous", DANGEROUS);
