// `hermes status`: one screen of what is true now. It works with a broken configuration (agent.md §11.2).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { rootOf } from "#config/homes.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { flagOption, type Context } from "../context.ts";
import type { Io } from "../io.ts";
import { collectStatus, type StatusReport } from "../status/collect.ts";

export async function run({ launch, line, io }: Context): Promise<ExitCode> {
  const { options } = line;
  const deep = flagOption(options, "deep");
  const own = await collectStatus(launch);
  const others: StatusReport[] = [];
  if (flagOption(options, "all")) {
    for (const home of await otherHomes(launch.home))
      others.push(await collectStatus({ ...launch, home }));
  }
  if (io.json) io.object(others.length === 0 ? { ...own } : { ...own, all: [own, ...others] });
  else for (const report of [own, ...others]) print(report, io, deep);
  return flagOption(options, "check") && ![own, ...others].every(isWell) ? EXIT.failed : EXIT.ok;
}

async function otherHomes(home: string): Promise<readonly string[]> {
  const { findProfiles } = await import("#profile/find.ts");
  const { profiles } = findProfiles(rootOf(home));
  return profiles.map((profile) => profile.home).filter((path) => path !== home);
}

/** What should run is ready, and the configuration can be honoured. */
function isWell(report: StatusReport): boolean {
  const servicesWell = report.services.every(
    ({ state, desired }) => desired !== "running" || state === "ready" || state === "degraded",
  );
  return servicesWell && report.config.state !== "refused";
}

function print(report: StatusReport, io: Io, deep: boolean): void {
  const rows: [string, string][] = [
    ["version", `${report.version} (node ${report.build.node})`],
    ["profile", `${report.profile}, ${report.home}`],
    ["model", modelText(report)],
    ["keys", keysText(report)],
    ...serviceRows(report, deep),
    [
      "sessions",
      report.sessions
        ? `${report.sessions.total}, ${report.sessions.active} active in the last hour`
        : "cannot be read",
    ],
    ["config", configText(report)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 1;
  for (const [name, text] of rows) io.line(`${io.paint("bold", name.padEnd(width))}${text}`);
  for (const problem of report.config.problems) {
    io.line(`  ${problem.level === "error" ? "✗" : "!"} ${problem.message}`);
    if (problem.fix !== null) io.line(`    ${problem.fix}`);
  }
  for (const notice of report.notices) io.line(`  ! ${notice}`);
  io.line();
}

function modelText({ model }: StatusReport): string {
  if (model === null) return "none (hermes model)";
  if (model.demo) return "DEMO (not an AI)";
  return `${model.provider}:${model.id}, window ${model.context} tokens, from ${model.source}`;
}

function keysText({ credentials }: StatusReport): string {
  const names = credentials.filter((entry) => entry.set).map((entry) => entry.name);
  return names.length === 0 ? "none set" : `set: ${names.join(", ")}`;
}

function serviceRows({ services, manager, boot }: StatusReport, deep: boolean): [string, string][] {
  const rows = services.map((service): [string, string] => [
    service.name === "dashboard" ? "dashboard" : `gateway ${service.profile ?? ""}`,
    serviceText(service, deep),
  ]);
  if (!services.some(({ kind }) => kind === "dashboard")) rows.unshift(["dashboard", "stopped"]);
  rows.unshift(["services", manager.label]);
  for (const warning of boot?.warnings ?? []) rows.push(["boot", `! ${warning}`]);
  return rows;
}

function serviceText(service: ServiceBody, deep: boolean): string {
  const { state, reason, restarts, pid, last_exit: last, since, error } = service;
  const parts = [
    state,
    ...(reason === null ? [] : [reason]),
    ...(restarts === 0 ? [] : [`${restarts} restart${restarts === 1 ? "" : "s"}`]),
    ...(error?.ways_out ?? []),
  ];
  if (!deep) return parts.join(", ");
  if (pid !== null) parts.push(`pid ${pid}`);
  if (since !== null) parts.push(`since ${since}`);
  if (last !== null) parts.push(`last exit ${last.signal ?? last.code ?? "unknown"} at ${last.at}`);
  return parts.join(", ");
}

function configText({ config }: StatusReport): string {
  const count = config.problems.length;
  return `${config.path}: ${config.state}${count === 0 ? "" : `, ${count} problem${count === 1 ? "" : "s"}`}`;
}
