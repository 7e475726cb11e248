// A temporary directory that is gone when the test ends, or with the process when something still writes into it then:
// hooks run in the order in which they were made, so a server that the test kills is still alive when its home goes.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

export function tempDir(t: Pick<TestContext, "after">, name = "hermes"): string {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  t.after(() => {
    if (!isRemoved(path)) process.once("exit", () => void isRemoved(path));
  });
  return path;
}

function isRemoved(path: string): boolean {
  try {
    unlock(path);
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/** Tests take write bits away; removal needs them back. */
function unlock(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) unlock(join(path, entry.name));
  }
}
