// `hermes gateway run` where a supervisor runs: the slot is started instead, so that there is one gateway (product.md D19, container.md §4.1).
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseSwitch } from "#base/booleans.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { profileOf } from "#config/homes.ts";
import { findProfile } from "#profile/find.ts";
import type { ProfileRef } from "#profile/hook.ts";
import { libexecOf } from "#supervisor/open.ts";
import { ServiceError } from "#supervisor/port.ts";
import { readDesired } from "#supervisor/service-files.ts";
import type { Context } from "../context.ts";
import { gatewaySlot, profileHook } from "../profile-keeper.ts";
import { oneLine } from "../report-error.ts";
import { openServices, type Services } from "./manager.ts";

const START_MS = 30_000;

/** null: nothing supervises here, or it was asked to stay: the gateway runs in this process. */
export async function handOver(context: Context): Promise<ExitCode | null> {
  const { env } = context.launch;
  if (parseSwitch(env["HERMES_S6_SUPERVISED_CHILD"]) === "on") return null;
  const services = await openServices(context);
  if (!services.manager.canRegister) return null;
  const profile = findProfile(services.root, profileOf(context.launch.home));
  if (staysHere(context)) {
    await refuseSecond(services, profile);
    return null;
  }
  await startSlot(context, services, profile);
  return hold(context);
}

function staysHere({ launch, line }: Context): boolean {
  if (line.options["supervise"] === false) return true;
  return parseSwitch(launch.env["HERMES_GATEWAY_NO_SUPERVISE"]) === "on";
}

async function refuseSecond({ manager }: Services, profile: ProfileRef): Promise<void> {
  const { up, pid } = await manager.facts(gatewaySlot(profile));
  if (!up) return;
  throw new HermesError(
    "GATEWAY_RUNNING",
    `The gateway of ${profile.name} runs already, under ${manager.label} (pid ${pid ?? "unknown"}).`,
    { exit: EXIT.refused, fix: "Stop it first: hermes gateway stop" },
  );
}

/** An explicit stop is respected; everything else counts as an explicit start. */
async function startSlot({ io }: Context, services: Services, profile: ProfileRef): Promise<void> {
  const { manager } = services;
  const slot = gatewaySlot(profile);
  const desired = readDesired(profile.home);
  if (desired?.desired === "stopped") {
    io.note(
      `The gateway of ${profile.name} was stopped${desired.at === null ? "" : ` at ${desired.at}`} and stays down under s6 supervision. Start it: hermes gateway start`,
    );
    return;
  }
  if (!(await manager.facts(slot)).registered)
    await profileHook(manager)({ kind: "found", profile });
  const body = await services.gateway(profile);
  io.note(
    `The gateway of ${profile.name} runs under s6 supervision, log ${body.log ?? "hermes logs gateway"}; --no-supervise keeps it in this process.`,
  );
  try {
    await manager.start(slot, { waitMs: START_MS, by: "gateway run", source: "cli" });
  } catch (error) {
    // Its truth is in status and log; whoever typed this keeps the terminal until they end it (container.md §4.1).
    const isItsOwn =
      error instanceof ServiceError &&
      ["refused", "crash-looping", "timeout"].includes(error.serviceCode);
    if (!isItsOwn) throw error;
    io.note(oneLine(error));
  }
}

/** Sleeps until a signal, without this process's memory where the image's own program is there. */
function hold({ launch }: Context): Promise<ExitCode> {
  const program = join(libexecOf(launch), "hold");
  if (existsSync(program) && process.execve !== undefined)
    process.execve(program, [program], { ...launch.env });
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.once(signal, () => resolve(EXIT.ok));
  });
}
