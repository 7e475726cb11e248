// `npm test`: everything that this machine can run; names each suite that it skipped and why. The node runner's own
// closing lines come last. Arguments are file globs (default: all; a ring that this machine cannot run is skipped by name).
// HERMES_TEST_SECOND_TRY=1 (set by .ci/run): files that failed are run once more, one at a time, and named; a machine
// that other work keeps busy can break a browser test, a fault of ours fails twice.
import { spawn, spawnSync, type ChildProcessByStdio } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Outcome } from "./outcome-reporter.ts";
import { descendants } from "./process-tree.ts";
import { environment, pinnedNode, ROOT, run } from "./run.ts";

const ALL = [
  "src/**/*.test.ts",
  "test/{architecture,contract,e2e,kit,supervision,docker}/**/*.test.ts",
  "scripts/**/*.test.ts",
];
/** A file that hangs must not hold the run for ever; far longer than any deadline inside a test. */
const FILE_LIMIT_MS = 600_000;
/** No test of ours takes as long. A program that outlives its test can hold the runner's pipe, which no limit of it ends. */
const SILENCE_LIMIT_MS = Number(process.env["HERMES_TEST_SILENCE_MS"] ?? "240000");
const given = process.argv.slice(2);

const browserCode =
  given.length > 0 ? 0 : run("vitest", ["run", "--reporter=dot"], join(ROOT, "web"));
// A file of the container ring runs two containers at a time by itself.
const isContainers = given.length > 0 && given.every((glob) => glob.startsWith("test/docker/"));
const first = await runNode(given.length > 0 ? given : ALL, isContainers ? 1 : 2);
const again = first.failedFiles.length > 0 && process.env["HERMES_TEST_SECOND_TRY"] === "1";
if (again) console.log(`\nsecond try, one file at a time:\n  ${first.failedFiles.join("\n  ")}`);
const { code } = again ? await runNode(first.failedFiles, 1) : first;
process.exitCode = browserCode || code;

interface Run {
  readonly code: number;
  readonly failedFiles: readonly string[];
}

async function runNode(files: readonly string[], concurrency: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-test-"));
  const report = join(folder, "outcomes");
  const child = spawn(
    pinnedNode(),
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${FILE_LIMIT_MS}`,
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      "--test-reporter=./scripts/outcome-reporter.ts",
      `--test-reporter-destination=${report}`,
      ...files,
    ],
    { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"], env: environment() },
  );
  const ended = new Promise<number>((resolve) => {
    child.once("exit", (exit) => resolve(exit ?? 1));
  });
  let named = false;
  const watch = watchSilence(child);
  for await (const line of createInterface({ input: child.stdout })) {
    watch.refresh();
    if (!named && line.startsWith("ℹ tests ")) {
      named = true;
      printContainerTimes(readOutcomes(report));
      printSkipped(readOutcomes(report));
    }
    console.log(line);
  }
  const code = await ended;
  clearInterval(watch);
  const failed = readOutcomes(report).flatMap((item) =>
    item.kind === "failed" ? [item.file] : [],
  );
  rmSync(folder, { recursive: true, force: true });
  return { code, failedFiles: [...new Set(failed)].filter((file) => file !== "") };
}

/** Ends what runs in silence; a second silence ends the runner itself. */
function watchSilence(child: ChildProcessByStdio<null, Readable, null>): NodeJS.Timeout {
  let isSecond = false;
  return setInterval(() => {
    const pids = descendants(child.pid ?? 0);
    console.log(`\nHANG: no test ended for ${SILENCE_LIMIT_MS / 1000} s; these are ended:`);
    spawnSync("ps", ["--cols", "200", "-o", "pid,ppid,etimes,stat,args", "-p", pids.join(",")], {
      stdio: "inherit",
    });
    for (const pid of isSecond ? [child.pid ?? 0, ...pids] : pids) kill(pid);
    if (isSecond) child.stdout.destroy();
    isSecond = true;
  }, SILENCE_LIMIT_MS);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Ended meanwhile.
  }
}

function readOutcomes(path: string): readonly Outcome[] {
  try {
    const lines = readFileSync(path, "utf8").trim().split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Outcome);
  } catch {
    // No report: the runner died early and says so itself.
    return [];
  }
}

/** container.md §13.3: how much the container ring holds, and what takes the time. */
function printContainerTimes(outcomes: readonly Outcome[]): void {
  const ring = outcomes.filter((item) => item.kind === "container");
  if (ring.length === 0) return;
  const slowest = ring.toSorted((a, b) => b.ms - a.ms).slice(0, 10);
  console.log(`\ncontainer ring: ${ring.length} tests passed; the slowest:`);
  for (const { name, ms } of slowest) console.log(`  ${(ms / 1000).toFixed(1)} s  ${name}`);
}

/** What is worth reading before the counts: which suites this machine could not run. */
function printSkipped(outcomes: readonly Outcome[]): void {
  const skipped = outcomes.flatMap((item) =>
    item.kind === "skipped" ? [`  ${item.name}: ${item.reason}`] : [],
  );
  const text = skipped.length === 0 ? " nothing" : `\n${skipped.join("\n")}`;
  console.log(`\nskipped on this machine:${text}`);
  if (browserCode !== 0) console.log("FAILED: unit tests of the browser app (vitest, above)");
}
