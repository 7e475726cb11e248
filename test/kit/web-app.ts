// The browser app, built for one test file into a folder of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROJECT } from "./cli.ts";

/** Builds `web/` and returns the folder, which is gone when the process ends. */
export async function buildWebApp(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-web-app-"));
  // A hook of the test runner would belong to the test or hook that builds, and take the folder from the others.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const vite = join(PROJECT, "node_modules", "vite", "bin", "vite.js");
  const child = spawn(
    process.execPath,
    // Builds of several test files do not meet: each has its own folder.
    [vite, "build", "--outDir", folder, "--emptyOutDir", "--bypass-lock", "--logLevel", "error"],
    { cwd: join(PROJECT, "web"), stdio: ["ignore", "ignore", "pipe"] },
  );
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the browser app does not build: ${problems}`);
  return folder;
}
