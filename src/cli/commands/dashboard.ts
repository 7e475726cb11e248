// `hermes dashboard`, alias `web`: wires the HTTP server to what it serves (dashboard.md §1).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";
import { flagOption } from "../context.ts";

export async function run(context: Context): Promise<ExitCode> {
  const { options } = context.line;
  const { serve } = await import("../dashboard/serve.ts");
  const { printStatus, stopRunning } = await import("../dashboard/running.ts");
  if (flagOption(options, "status")) return printStatus(context);
  if (flagOption(options, "stop")) return stopRunning(context);
  await serve(context);
  return EXIT.ok;
}
