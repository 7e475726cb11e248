// `hermes gateway status [--deep]` and `gateway list` (container.md §10.1).
import { join } from "node:path";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { profileOf } from "#config/homes.ts";
import { findProfile, findProfiles } from "#profile/find.ts";
import type { ProfileRef } from "#profile/hook.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import {
  readDesired,
  readObject,
  readObserved,
  type ObservedFile,
} from "#supervisor/service-files.ts";
import { flagOption, type Context } from "../context.ts";
import { openServices } from "./manager.ts";

export async function status(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const services = await openServices(context);
  const profile = findProfile(services.root, profileOf(launch.home));
  const body = await services.gateway(profile);
  const observed = readObserved(profile.home);
  const { label } = services.manager;
  // What a process said of itself counts only while that process lives (container.md §9).
  const platforms = body.pid !== null && observed?.pid === body.pid ? observed.platforms : {};
  if (io.json) io.object(asJson(profile, body, platforms, label));
  else {
    io.line(lineOf(profile, body));
    io.line(`manager: ${label}`);
    for (const [name, { state, error_message: why }] of Object.entries(platforms))
      io.line(`  ${name}: ${state}${why === null ? "" : `: ${why}`}`);
    for (const way of body.error?.ways_out ?? []) io.line(`  ${way}`);
    if (flagOption(line.options, "deep")) printDeep(context, profile, body);
  }
  return EXIT.ok;
}

export async function list(context: Context): Promise<ExitCode> {
  const { io } = context;
  const services = await openServices(context);
  const { profiles } = findProfiles(services.root);
  const bodies = await Promise.all(profiles.map((profile) => services.gateway(profile)));
  const { kind, label } = services.manager;
  if (io.json) io.object({ manager: { kind, label }, gateways: bodies });
  else {
    for (const [index, body] of bodies.entries())
      io.line(lineOf(profiles[index] as ProfileRef, body));
    io.line(`manager: ${label}`);
  }
  return EXIT.ok;
}

function asJson(
  profile: ProfileRef,
  service: ServiceBody,
  platforms: ObservedFile["platforms"],
  label: string,
): Readonly<Record<string, unknown>> {
  const desired = readDesired(profile.home);
  return { manager: label, service, platforms, identity: identityOf(profile), desired };
}

function identityOf({ home }: ProfileRef): Readonly<Record<string, unknown>> | null {
  return readObject(join(home, "gateway.pid"));
}

function lineOf({ name }: ProfileRef, body: ServiceBody): string {
  const reason = body.reason === null ? "" : `: ${body.reason}`;
  const facts = [
    ...(body.pid === null ? [] : [`pid ${body.pid}`]),
    ...(body.since === null ? [] : [`since ${body.since}`]),
    ...(body.restarts === 0 ? [] : [`${body.restarts} restarts`]),
  ];
  return `gateway ${name}: ${body.state}${reason}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

function printDeep({ io }: Context, profile: ProfileRef, body: ServiceBody): void {
  const desired = readDesired(profile.home);
  if (desired !== null)
    io.line(`desired: ${desired.desired} since ${desired.at ?? "?"} by ${desired.by ?? "?"}`);
  const { last_exit: exit } = body;
  if (exit !== null) io.line(`last exit: ${exit.signal ?? `code ${exit.code}`} at ${exit.at}`);
  if (body.next_start_at !== null) io.line(`next start: ${body.next_start_at}`);
  const identity = identityOf(profile);
  if (identity !== null) io.line(`identity: ${JSON.stringify(identity)}`);
  if (body.log !== null) io.line(`log: ${body.log}`);
}
