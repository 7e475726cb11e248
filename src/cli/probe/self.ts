// `hermes probe --self`: the image's HEALTHCHECK (dashboard.md §13). Healthy iff every essential service is ready or degraded by
// the one function, and an essential dashboard also answers a real request. One line; exit 0 or 1 only.
import { readBootRecord, type Role } from "#container/boot-record.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { messageOf } from "#base/errors.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import { asksHealth, readDashboardRecord } from "#supervisor/dashboard-process.ts";
import { readServices } from "#supervisor/services.ts";
import { slotName } from "#supervisor/slot-name.ts";
import type { Context } from "../context.ts";
import { openServices } from "../gateway/manager.ts";

const LIMIT_MS = 2800;
const HEALTH_MS = 1000;
const WELL: readonly string[] = ["ready", "degraded"];

export async function probeSelf(context: Pick<Context, "launch" | "io">): Promise<ExitCode> {
  const { io } = context;
  const verdict = await withinLimit(examine(context));
  if (io.json) io.object({ ...verdict });
  else io.line(`${verdict.healthy ? "healthy" : "unhealthy"}: ${verdict.text}`);
  return verdict.healthy ? EXIT.ok : EXIT.failed;
}

interface Verdict {
  readonly healthy: boolean;
  readonly text: string;
}

/** A probe that hangs would say nothing at all. */
function withinLimit(work: Promise<Verdict>): Promise<Verdict> {
  const late = new Promise<Verdict>((resolve) => {
    setTimeout(
      () => resolve({ healthy: false, text: `no answer within ${LIMIT_MS} ms` }),
      LIMIT_MS,
    ).unref();
  });
  const failed = (error: unknown): Verdict => ({ healthy: false, text: messageOf(error) });
  return Promise.race([work.catch(failed), late]);
}

async function examine({ launch, io }: Pick<Context, "launch" | "io">): Promise<Verdict> {
  const { manager, root, lock } = await openServices({ launch, io });
  const services = await readServices(manager, { root, lock });
  const boot = readBootRecord();
  const names = essentialNames(
    boot?.role ?? "serve",
    boot?.profile ?? "default",
    services,
    launch.env,
  );
  const parts: string[] = [];
  let healthy = true;
  for (const name of names) {
    const service = services.find((entry) => entry.name === name);
    const trouble = await troubleOf(service, root);
    if (trouble !== null) healthy = false;
    parts.push(`${name} ${trouble ?? service?.state ?? ""}`);
  }
  const others = services.filter(({ name }) => !names.includes(name));
  parts.push(...others.map((service) => `${describe(service)} (not essential)`));
  return { healthy, text: parts.join("; ") || "nothing runs that should" };
}

/** null: it is well. */
async function troubleOf(service: ServiceBody | undefined, root: string): Promise<string | null> {
  if (service === undefined) return "is not there";
  if (!WELL.includes(service.state)) return describe(service).slice(service.name.length + 1);
  if (service.kind === "gateway") return null;
  const record = readDashboardRecord(root);
  const answers = record !== null && (await asksHealth(record.url, HEALTH_MS));
  return answers ? null : `${service.state}, but it does not answer /api/health`;
}

function describe({ name, state, reason }: ServiceBody): string {
  return `${name} ${state}${reason === null ? "" : ` (${reason})`}`;
}

/** The table of roles (dashboard.md §13). Exported for its test. */
export function essentialNames(
  role: Role,
  profile: string,
  services: readonly ServiceBody[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const named = (env["HERMES_HEALTH_PROFILES"] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .map((name) => `gateway-${name}`);
  const wanted = new Set([...ofRole(role, profile, services), ...named]);
  const isAtRest = ({ name, kind, state, desired }: ServiceBody): boolean =>
    wanted.has(name) && kind === "gateway" && state === "stopped" && desired === "stopped";
  // Stopped by its operator: then it is not essential.
  for (const { name } of services.filter(isAtRest)) wanted.delete(name);
  return [...wanted];
}

function ofRole(role: Role, profile: string, services: readonly ServiceBody[]): readonly string[] {
  switch (role) {
    case "gateway":
    case "gateway-foreground":
      return [slotName({ kind: "gateway", profile })];
    case "dashboard":
      return ["dashboard"];
    case "serve":
    case "supervise": {
      const gateway = services.find(({ name }) => name === "gateway-default");
      if (gateway?.desired === "running") return [gateway.name];
      const dashboard = services.find(({ kind }) => kind === "dashboard");
      return dashboard !== undefined && dashboard.state !== "disabled" ? ["dashboard"] : [];
    }
    case "command":
    case "instant":
      return [];
  }
}
