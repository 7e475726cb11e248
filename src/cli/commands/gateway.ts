// `hermes gateway` (agent.md §1.3, container.md §10.1). Bare `gateway` is `gateway run`.
import type { ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";

export async function run(context: Context): Promise<ExitCode> {
  const { runGatewayHere } = await import("../gateway/run.ts");
  return runGatewayHere(context, null);
}
