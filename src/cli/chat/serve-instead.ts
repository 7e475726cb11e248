// `docker run -d IMAGE` without words and without a terminal: services do the work, this process only holds the container
// (container.md §4, role serve).
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readBootRecord } from "#container/boot-record.ts";
import { rootOf } from "#config/homes.ts";
import { listSlots } from "#supervisor/s6/manager.ts";
import { libexecOf, scandirOf } from "#supervisor/open.ts";
import type { Context } from "../context.ts";

/** Replaces this process when some slot is wanted up; returns when there is none, or this is not a container's command. */
export function serveInstead({ launch, io }: Context): void {
  const { env, project, home } = launch;
  const base = env["HERMES_PID1_BASE"];
  const boot = readBootRecord();
  if (base === undefined || boot?.role !== "serve" || !boot.supervised) return;
  const scandir = scandirOf({ env, project, root: rootOf(home) });
  const wanted = listSlots(scandir).filter((slot) => !existsSync(join(scandir, slot, "down")));
  if (wanted.length === 0) return;
  const hold = join(libexecOf({ project }), "hold");
  io.note(`hermes: serving ${wanted.join(", ")}; "docker stop" ends it`);
  process.execve?.(hold, [hold], { ...env });
}
