// `hermes gateway start|stop|restart [--all]` (container.md §10.1).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { HermesError } from "#base/errors.ts";
import { profileOf } from "#config/homes.ts";
import { findProfile, findProfiles } from "#profile/find.ts";
import type { ProfileRef } from "#profile/hook.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { parseSlotName } from "#supervisor/slot-name.ts";
import { flagOption, numberOption, type Context } from "../context.ts";
import { gatewaySlot, profileHook } from "../profile-keeper.ts";
import { oneLine, toHermesError } from "../report-error.ts";
import { openServices, type Services } from "./manager.ts";

export type Verb = "start" | "stop" | "restart";

const WAIT_SECONDS = 15;

export async function control(context: Context, verb: Verb): Promise<ExitCode> {
  const services = await openServices(context);
  return flagOption(context.line.options, "all")
    ? controlAll(context, services, verb)
    : controlOne(context, services, verb);
}

async function controlOne(context: Context, services: Services, verb: Verb): Promise<ExitCode> {
  const { launch, io } = context;
  const profile = findProfile(services.root, profileOf(launch.home));
  const body = await tell(context, services, profile, verb);
  if (io.json) io.object({ service: body });
  else io.line(describe(profile, body, isOwn(context, profile) && verb !== "start"));
  return EXIT.ok;
}

interface Outcome {
  readonly profile: ProfileRef;
  readonly body: ServiceBody | null;
  readonly error: HermesError | null;
}

/** In parallel; one that fails keeps no other. */
async function controlAll(context: Context, services: Services, verb: Verb): Promise<ExitCode> {
  const { io } = context;
  const profiles = await registered(services);
  const outcomes = await Promise.all(
    profiles.map((profile) =>
      tell(context, services, profile, verb).then(
        (body): Outcome => ({ profile, body, error: null }),
        (error: unknown): Outcome => ({ profile, body: null, error: toHermesError(error) }),
      ),
    ),
  );
  const failed = outcomes.filter(({ error }) => error !== null);
  if (io.json) io.object({ gateways: outcomes.map(asJson) });
  else printAll(context, outcomes);
  if (failed.length === 0) return EXIT.ok;
  return failed.length === outcomes.length ? EXIT.failed : EXIT.partial;
}

function printAll({ io }: Context, outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) io.line("No gateway is registered.");
  for (const { profile, body, error } of outcomes) {
    if (body !== null) io.line(describe(profile, body, false));
    else if (error !== null) io.note(`gateway ${profile.name}: ${oneLine(error)}`);
  }
}

function asJson({ profile, body, error }: Outcome): Readonly<Record<string, unknown>> {
  return {
    name: profile.name,
    service: body,
    error: error === null ? null : { code: error.code, message: error.message, exit: error.exit },
  };
}

/** Every slot of a gateway; where nothing registers, every profile. */
async function registered({ manager, root }: Services): Promise<readonly ProfileRef[]> {
  const { profiles } = findProfiles(root);
  if (!manager.canRegister) return profiles;
  const slots = (await manager.list()).flatMap((slot) => {
    const id = parseSlotName(slot);
    return id?.kind === "gateway" ? [id.profile] : [];
  });
  return slots.map(
    (name) => profiles.find((profile) => profile.name === name) ?? { name, home: root },
  );
}

async function tell(
  context: Context,
  services: Services,
  profile: ProfileRef,
  verb: Verb,
): Promise<ServiceBody> {
  const { manager } = services;
  const slot = gatewaySlot(profile);
  // A profile that was copied in is registered by its first start (field-rules D04).
  if (verb !== "stop" && manager.canRegister && !(await manager.facts(slot)).registered) {
    await profileHook(manager)({ kind: "found", profile });
  }
  const seconds = numberOption(context.line.options, "wait") ?? WAIT_SECONDS;
  const options = {
    waitMs: seconds * 1000,
    by: `gateway ${verb}`,
    source: "cli",
  } as const;
  return manager[verb](slot, options);
}

/** Asked from inside the gateway itself: it happens when no turn runs (container.md §7.3). */
function isOwn({ launch }: Context, profile: ProfileRef): boolean {
  return launch.env["HERMES_SLOT"] === gatewaySlot(profile);
}

function describe({ name }: ProfileRef, body: ServiceBody, isLater: boolean): string {
  if (isLater) return `gateway ${name}: after this turn`;
  const reason = body.reason === null ? "" : `: ${body.reason}`;
  const pid = body.pid === null ? "" : ` (pid ${body.pid})`;
  const log = body.state === "stopped" || body.log === null ? "" : `; log ${body.log}`;
  return `gateway ${name}: ${body.state}${reason}${pid}${log}`;
}
