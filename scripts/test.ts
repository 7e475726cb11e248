// `npm test`: everything that this machine can run; names each suite that it skipped and why. The node runner's own
// closing lines come last. Arguments are file globs (default: all rings that need no engine) or node's test options.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environment, pinnedNode, ROOT, run } from "./run.ts";

const ALL = [
  "src/**/*.test.ts",
  "test/{architecture,contract,e2e,kit}/**/*.test.ts",
  "scripts/**/*.test.ts",
];
const given = process.argv.slice(2);

const browserCode =
  given.length > 0 ? 0 : run("vitest", ["run", "--reporter=dot"], join(ROOT, "web"));
const nodeCode = await runNode(given.length > 0 ? given : ALL);
process.exitCode = browserCode || nodeCode;

async function runNode(files: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-test-"));
  const skipped = join(folder, "skipped");
  const child = spawn(
    pinnedNode(),
    [
      "--test",
      "--test-concurrency=2",
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      "--test-reporter=./scripts/skipped-reporter.ts",
      `--test-reporter-destination=${skipped}`,
      ...files,
    ],
    { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"], env: environment() },
  );
  let named = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!named && line.startsWith("ℹ tests ")) {
      named = true;
      printSkipped(skipped);
    }
    console.log(line);
  }
  const code =
    child.exitCode ??
    (await new Promise<number>((resolve) => {
      child.once("exit", (exit) => resolve(exit ?? 1));
    }));
  rmSync(folder, { recursive: true, force: true });
  return code;
}

/** What is worth reading before the counts: which suites this machine could not run. */
function printSkipped(path: string): void {
  let text = "";
  try {
    text = readFileSync(path, "utf8").trim();
  } catch {
    // No report: the runner died early and says so itself.
  }
  console.log(
    text === "" ? "\nskipped on this machine: nothing" : `\nskipped on this machine:\n${text}`,
  );
  if (browserCode !== 0) console.log("FAILED: unit tests of the browser app (vitest, above)");
}
