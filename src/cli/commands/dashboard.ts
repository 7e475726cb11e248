// `hermes dashboard`, alias `web`: wires the HTTP server to what it serves, and looks after its logins (dashboard.md §1).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";
import { flagOption } from "../context.ts";

type Action = (context: Context) => Promise<ExitCode> | ExitCode;

const ACTIONS: Readonly<Record<string, () => Promise<Action>>> = {
  "set-password": async () => (await import("../dashboard/set-password.ts")).setPassword,
  register: async () => (await import("../dashboard/register.ts")).register,
  sessions: async () => (await import("../dashboard/login-sessions.ts")).loginSessions,
  "rotate-secret": async () => (await import("../dashboard/login-sessions.ts")).rotateSecret,
  unlock: async () => (await import("../dashboard/unlock.ts")).unlock,
};

export async function run(context: Context): Promise<ExitCode> {
  const load = ACTIONS[context.line.path[1] ?? ""];
  if (load) return (await load())(context);
  const { options } = context.line;
  const { printStatus, stopRunning } = await import("../dashboard/running.ts");
  if (flagOption(options, "status")) return printStatus(context);
  if (flagOption(options, "stop")) return stopRunning(context);
  const { serve } = await import("../dashboard/serve.ts");
  await serve(context);
  return EXIT.ok;
}
