// Doctor's section "services" (container.md §10.1): manager, the tree, each slot with its way out. Disabled, or stopped by its
// operator, is no problem.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readBootRecord } from "#container/boot-record.ts";
import { rootOf } from "#config/homes.ts";
import { findProfiles } from "#profile/find.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { processName } from "#supervisor/identity.ts";
import { readServices } from "#supervisor/services.ts";
import type { Launch } from "../context.ts";
import { openServices, type Services } from "../gateway/manager.ts";
import { type DoctorItem, type DoctorSection, error, off, ok, warning } from "./report.ts";

export async function servicesSection(launch: Launch): Promise<DoctorSection> {
  const notes: string[] = [];
  const opened = await openServices({ launch, io: { note: (text) => void notes.push(text) } });
  const { root, lock, manager } = opened;
  const services = await readServices(manager, { root, lock });
  const items = [
    managerItem(opened),
    ...services.map(serviceItem),
    ...missingSlots(opened, services),
    ...foreignFiles(root),
    ...environmentItems(launch),
    ...bootItems(),
    ...notes.map((text) => warning("SERVICE_FILE", text.replace(/^warning: /u, ""))),
  ];
  return { id: "services", title: "Services", items };
}

function managerItem({ manager }: Services): DoctorItem {
  if (manager.kind === "none") return ok("MANAGER", "no supervisor of services on this machine");
  const tree = manager.kind === "s6" ? `, PID 1 is ${processName(1) ?? "unknown"}` : "";
  const where = manager.scandir === null ? "" : `, ${manager.scandir}`;
  return ok("MANAGER", `${manager.label}${where}${tree}`);
}

function serviceItem(service: ServiceBody): DoctorItem {
  const { name, state, reason, pid } = service;
  const text = `${name}: ${state}${reason === null ? "" : `, ${reason}`}${pid === null ? "" : `, pid ${pid}`}`;
  switch (state) {
    case "ready":
    case "stopping":
      return ok("SERVICE", text);
    case "disabled":
    case "stopped":
      return isFine(service)
        ? off("SERVICE", text)
        : warning("SERVICE_DOWN", text, startWith(service));
    case "starting":
      return reason === "slow start"
        ? warning("SERVICE_SLOW", text, logOf(service))
        : ok("SERVICE", text);
    case "degraded":
      return warning("SERVICE_DEGRADED", text, logOf(service));
    case "refused":
      return error(
        "SERVICE_REFUSED",
        text,
        service.error?.ways_out.join(" Or: ") ?? logOf(service),
      );
    case "crash-looping":
      return error("SERVICE_CRASHING", text, logOf(service));
    case "unknown":
      return error("SERVICE_UNKNOWN", text, startWith(service));
  }
}

/** Not down although somebody asked for it to run. */
function isFine({ state, desired }: ServiceBody): boolean {
  return state !== "stopped" || desired !== "running";
}

function startWith({ kind, profile, pid }: ServiceBody): string {
  if (kind === "dashboard")
    return pid === null
      ? "Start the container anew, or: hermes dashboard"
      : "hermes dashboard --stop";
  return `hermes -p ${profile ?? "default"} gateway restart`;
}

const logOf = ({ log }: ServiceBody): string => `Its log: ${log ?? "hermes logs"}`;

/** A profile that was copied in has no slot until it is asked for (field-rules D04). */
function missingSlots(
  { manager, root }: Services,
  services: readonly ServiceBody[],
): readonly DoctorItem[] {
  if (!manager.canRegister) return [];
  return findProfiles(root)
    .profiles.filter(({ name }) => !services.some(({ profile }) => profile === name))
    .map(({ name }) =>
      warning("SLOT_MISSING", `gateway-${name}: not registered`, `hermes profile repair ${name}`),
    );
}

/** Direct children of the home that belong to somebody else: services cannot write them. */
function foreignFiles(root: string): readonly DoctorItem[] {
  const uid = process.getuid?.();
  try {
    const names = readdirSync(root).filter((name) => {
      const found = statSync(join(root, name), { throwIfNoEntry: false });
      return OURS.test(name) && found !== undefined && found.uid !== uid;
    });
    if (names.length === 0 || uid === undefined || uid === 0) return [];
    const fix =
      "Start the container anew as root, or: docker exec -u root CONTAINER hermes container repair-owner";
    return [warning("FOREIGN_FILES", `not owned by uid ${uid}: ${names.join(", ")}`, fix)];
  } catch {
    return [];
  }
}

const OURS =
  /^(?:config\.yaml|\.env|auth\.json|SOUL\.md|state\.db.*|gateway.*|logs|memories|sessions|skills|cache|dashboard|profiles)$/u;

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function environmentItems({ env, home }: Launch): readonly DoctorItem[] {
  const root = rootOf(home);
  const text = `HOME ${env["HOME"] ?? "is not set"}, HERMES_HOME ${env["HERMES_HOME"] ?? "is not set"}`;
  const isStray = isDirectory(join(root, ".hermes"));
  return isStray
    ? [
        warning(
          "SECOND_HOME",
          `${text}; a second home lies in ${join(root, ".hermes")}`,
          "Move what you need out of it, then delete it.",
        ),
      ]
    : [ok("HOME", text)];
}

function bootItems(): readonly DoctorItem[] {
  const boot = readBootRecord();
  return (boot?.warnings ?? []).map((text) => warning("BOOT", `at boot: ${text}`));
}
