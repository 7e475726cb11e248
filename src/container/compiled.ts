// Node keeps V8's compiled form of a program in one folder per user, named `<version>-<uid>`. In the image root made it, at build
// time; hermes, whatever its uid is, reads the same through a link that only root can make.
import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** As root. Never throws: on a read-only root, or without such a folder, starts only last longer. */
export function shareCompiled(folder: string, uid: number): void {
  try {
    for (const name of readdirSync(folder).filter((entry) => entry.endsWith("-0"))) {
      const own = join(folder, `${name.slice(0, -2)}-${uid}`);
      if (!existsSync(own)) symlinkSync(name, own);
    }
  } catch {
    // Slower, and right.
  }
}
