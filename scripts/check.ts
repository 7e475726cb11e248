// `npm run check`: format, lint, types, dead code, architecture, docs, shell. Never writes; all findings in one go.
import { globSync } from "node:fs";
import { isOnPath, pinnedNode, ROOT, run } from "./run.ts";

const shellFiles = globSync([".ci/run", "docker/**/*"], { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".md"))
  .map((entry) => `${entry.parentPath}/${entry.name}`);

const steps: readonly (readonly [name: string, run: () => number])[] = [
  ["format", () => run("oxfmt", ["--check"])],
  ["lint", () => run("oxlint", ["--quiet"])],
  ["types", () => run("tsc", [])],
  ["types of the browser app", () => run("tsc", ["-p", "web"])],
  ["dead code", () => run("knip", ["--no-progress"])],
  [
    "architecture",
    () => run(pinnedNode(), ["--test", "--test-reporter=dot", "test/architecture/*.test.ts"]),
  ],
  ["reference docs", () => run(pinnedNode(), ["scripts/docs.ts", "--check"])],
  [
    "shell",
    () =>
      isOnPath("shellcheck")
        ? run("shellcheck", shellFiles)
        : skip("shell", "shellcheck is not installed"),
  ],
];

function skip(name: string, reason: string): number {
  console.log(`skipped: ${name}: ${reason}`);
  return 0;
}

const failed = steps.filter(([name, step]) => {
  const started = performance.now();
  const code = step();
  console.log(
    `${code === 0 ? "ok" : "FAILED"}: ${name} (${Math.round(performance.now() - started)} ms)`,
  );
  return code !== 0;
});
if (failed.length > 0) {
  console.error(
    `check found problems in: ${failed.map(([name]) => name).join(", ")}. "npm run fix" repairs format, lint and docs.`,
  );
  process.exitCode = 1;
}
