// `hermes container …` (container.md §3, §10.1): internal, but useful by hand.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { parseSwitch } from "#base/booleans.ts";
import { rootOf } from "#config/homes.ts";
import { flagOption, type Context } from "../context.ts";

export async function run(context: Context): Promise<ExitCode> {
  switch (context.line.path[1] ?? "") {
    case "prepare":
      return (await import("../container/prepare.ts")).runPrepare(context);
    case "route":
      return printRoute(context);
    case "reconcile":
      return reconcile(context);
    default:
      return repair(context);
  }
}

async function printRoute({ launch, line, io }: Context): Promise<ExitCode> {
  const { isatty } = await import("node:tty");
  const { route } = await import("#container/route.ts");
  const { classify, isCommand } = await import("../container/classify.ts");
  const { isProgram } = await import("../container/program.ts");
  const routing = await route(line.operands, {
    isTerminal: isatty(0),
    supervised: true,
    noSupervise: parseSwitch(launch.env["HERMES_GATEWAY_NO_SUPERVISE"]) === "on",
    isProgram: (word) => isProgram(word, launch.env["PATH"]),
    isCommand,
    classify,
  });
  io.line(JSON.stringify({ schema: 1, ...routing }));
  return EXIT.ok;
}

async function reconcile(context: Context): Promise<ExitCode> {
  const { openServices } = await import("../gateway/manager.ts");
  const { reconcileLater } = await import("#container/reconcile.ts");
  const { createBootLog } = await import("#container/boot-log.ts");
  const { io, launch, line } = context;
  const { manager } = await openServices(context);
  if (!manager.canRegister) {
    throw new HermesError("no-manager", "Nothing here supervises services.", {
      exit: EXIT.unavailable,
      fix: "Run it in the container, or beside hermes supervise.",
    });
  }
  const isDry = flagOption(line.options, "dryRun");
  const changes = await reconcileLater({
    root: rootOf(launch.home),
    dashboard: parseSwitch(launch.env["HERMES_DASHBOARD"]) === "on",
    manager,
    log: createBootLog(false),
    dryRun: isDry,
  });
  if (io.json) io.object({ changes, dry_run: isDry });
  else for (const { slot, action } of changes) io.line(`${isDry ? "would " : ""}${action} ${slot}`);
  if (!io.json && changes.length === 0) io.line("Nothing to do.");
  return EXIT.ok;
}

async function repair({ launch, io }: Context): Promise<ExitCode> {
  const { repairOwner } = await import("#container/owner.ts");
  const { readAccount } = await import("#container/accounts.ts");
  if (process.getuid?.() !== 0) {
    throw new HermesError("NEEDS_ROOT", "Only root can give files to somebody.", {
      exit: EXIT.notPermitted,
      fix: "docker exec -u root CONTAINER hermes container repair-owner",
    });
  }
  const account = readAccount({ passwd: "/etc/passwd", group: "/etc/group" });
  const { changed, refused, warnings } = repairOwner(rootOf(launch.home), account, true);
  for (const warning of warnings) io.note(warning);
  if (io.json) io.object({ changed, refused });
  else io.line(`${changed} entries now belong to ${account.uid}:${account.gid}.`);
  return refused > 0 ? EXIT.failed : EXIT.ok;
}
