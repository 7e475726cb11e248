// `hermes gateway run`: one gateway in this process (agent.md §7.1). `slot-run` calls it with the slot it runs in.
import type { SessionStore } from "#agent/ports/session-store.ts";
import { epochSeconds, systemClock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { ExitCode } from "#base/exit-codes.ts";
import type { LogFields, Log } from "#base/log.ts";
import { ownIdentity } from "#base/process-identity.ts";
import type { Deliveries } from "#gateway/deliveries.ts";
import type { GatewaySlot, GatewayStore } from "#gateway/deps.ts";
import { gatewayFiles } from "#gateway/files.ts";
import { PLATFORMS } from "#gateway/platforms.ts";
import { runGateway } from "#gateway/run.ts";
import { openSessions, openWorkspace, openWorkspaceStore, type Workspace } from "../compose.ts";
import { flagOption, type Context } from "../context.ts";
import { readiness } from "../model-access.ts";
import { configFlags, runOverrides } from "../run-flags.ts";

/** Longest line that a slot's log takes whole (container.md §6.5). */
const MAX_LINE_BYTES = 3900;

/** Returns when the gateway has ended. Throws what it refuses with (78). */
export async function runGatewayHere(
  context: Context,
  slot: GatewaySlot | null,
): Promise<ExitCode> {
  const { launch, line } = context;
  const workspace = await openWorkspace(launch, {
    flags: configFlags(line.options),
    component: "gateway",
    file: "gateway",
    keeps: (error) =>
      context.io.note(`warning: the old configuration stays in use: ${messageOf(error)}`),
  });
  const say = speaker(context, workspace);
  for (const problem of workspace.loaded().problems) {
    if (problem.level === "warning") say(`warning: ${problem.message}`);
  }
  try {
    return await runGateway({
      loaded: () => workspace.loaded(),
      argv: gatewayArgv(context),
      self: ownIdentity(),
      uid: process.getuid?.() ?? null,
      replace: flagOption(line.options, "replace"),
      slot,
      files: gatewayFiles(workspace.loaded().home, systemClock),
      lock: workspace.lock,
      clock: systemClock,
      log: logFor(context, workspace, say),
      signals: process,
      platforms: PLATFORMS,
      openStore: () => openGatewayStore(context, workspace),
      modelTrouble: () => modelTrouble(workspace),
      redact: (text) => workspace.redactor.text(text),
      say: flagOption(line.options, "quiet") ? () => undefined : say,
    });
  } finally {
    await workspace.close();
  }
}

/** Whole lines without secrets, short enough for the slot's log. */
function speaker({ io }: Context, workspace: Workspace): (text: string) => void {
  return (text) => {
    const line = workspace.redactor.text(text).replaceAll(/\s*\n\s*/g, " ");
    io.note(Buffer.from(line, "utf8").subarray(0, MAX_LINE_BYTES).toString("utf8"));
  };
}

/** The log file takes everything; `-v` also shows it, and warnings are always shown. */
function logFor({ line }: Context, workspace: Workspace, say: (text: string) => void): Log {
  const isVerbose = flagOption(line.options, "verbose");
  const tee =
    (level: keyof Log, isShown: boolean) =>
    (message: string, fields?: LogFields): void => {
      workspace.log[level](message, fields);
      if (isShown) say(`${level}: ${message}`);
    };
  return {
    debug: tee("debug", isVerbose),
    info: tee("info", isVerbose),
    warn: tee("warn", true),
    error: tee("error", true),
  };
}

/** What `gateway_state.json` shows: never a value that could be a secret. */
function gatewayArgv({ launch }: Context): readonly string[] {
  return ["hermes", ...launch.argv];
}

function modelTrouble(workspace: Workspace): string | null {
  const found = readiness(workspace.loaded());
  return found.ready ? null : found.reason;
}

async function openGatewayStore(context: Context, workspace: Workspace): Promise<GatewayStore> {
  const store = await openWorkspaceStore(workspace);
  return {
    archive: store,
    deliveries: deliveriesOf(store),
    recover: async () => (await store.recoverLostTurns(epochSeconds(systemClock))).length,
    openSessions: () => openSessions(workspace, store, runOverrides(context.line.options)),
    close: () => store.close(),
  };
}

function deliveriesOf(store: SessionStore): Deliveries {
  return {
    isNew(platform, eventId, withinSeconds) {
      const now = epochSeconds(systemClock);
      const event = { platform, eventId, event: "{}", state: "done" } as const;
      return store.recordInbound({ ...event, now, forgetBefore: now - withinSeconds });
    },
    forget: (platform, eventId) => store.forgetInbound(platform, eventId),
  };
}
