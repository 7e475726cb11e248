// A temporary directory that is gone when the test ends.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

export function tempDir(t: Pick<TestContext, "after">, name = "hermes"): string {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  t.after(() => {
    unlock(path);
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** Tests take write bits away; removal needs them back. */
function unlock(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) unlock(join(path, entry.name));
  }
}
