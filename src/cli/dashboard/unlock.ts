// `hermes dashboard unlock`: the owner is never kept out by failed logins (field-rules J14). The counts live in the memory of
// the dashboard, which is told through its control file.
import { isControlPending, writeControl } from "#auth/control-file.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { rootOf } from "#config/homes.ts";
import { usageError } from "../command-line.ts";
import { flagOption, type Context } from "../context.ts";
import { isDashboardRunning } from "./restart-note.ts";

const LONGEST_MS = 5000;
const STEP_MS = 50;

export async function unlock({ launch, line, io }: Context): Promise<ExitCode> {
  const user = line.operands[0] ?? null;
  const all = flagOption(line.options, "all");
  if (user !== null && all) throw usageError("unlock takes USER or --all, not both.");
  if (user === null && !all) throw usageError("unlock needs USER or --all.");
  const root = rootOf(launch.home);
  if (!isDashboardRunning(root)) {
    io.note("No dashboard runs here: nobody is locked out.");
    if (io.json) io.object({ unlocked: false });
    return EXIT.ok;
  }
  writeControl(root, { unlock: user });
  for (let waited = 0; isControlPending(root); waited += STEP_MS) {
    if (waited >= LONGEST_MS) {
      throw new HermesError("UNLOCK_TIMEOUT", "The dashboard did not take the order within 5 s.");
    }
    await new Promise((resolve) => {
      setTimeout(resolve, STEP_MS);
    });
  }
  if (io.json) io.object({ unlocked: true });
  else io.line(user === null ? "Everybody may try again." : `${user} may try again.`);
  return EXIT.ok;
}
