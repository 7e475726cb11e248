// `hermes gateway` (agent.md §1.3, container.md §10.1). Bare `gateway` is `gateway run`.
import type { ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";

export async function run(context: Context): Promise<ExitCode> {
  const word = context.line.path[1] ?? "run";
  switch (word) {
    case "start":
    case "stop":
    case "restart":
      return (await import("../gateway/control.ts")).control(context, word);
    case "status":
      return (await import("../gateway/show.ts")).status(context);
    case "list":
      return (await import("../gateway/show.ts")).list(context);
    case "install":
    case "uninstall":
      return (await import("../gateway/install.ts")).change(context, word);
    default:
      return runHere(context);
  }
}

async function runHere(context: Context): Promise<ExitCode> {
  const { handOver } = await import("../gateway/hand-over.ts");
  const handed = await handOver(context);
  if (handed !== null) return handed;
  const { runGatewayHere } = await import("../gateway/run.ts");
  return runGatewayHere(context, null);
}
