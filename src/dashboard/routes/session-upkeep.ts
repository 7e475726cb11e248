// Many sessions at once: counts, emptying, pruning, import (dashboard.md §11.3).
import * as z from "zod/mini";
import { epochSeconds } from "#base/clock.ts";
import { isHermesError } from "#base/errors.ts";
import type { SessionArchive } from "#session/archive.ts";
import { UPLOAD_LIMIT_BYTES } from "../body.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";
import { ACTIVE_SECONDS } from "../session-bodies.ts";
import { word } from "./chat.ts";

const DAY_SECONDS = 86_400;

export function registerSessionUpkeep(routes: Registrars, services: RouteServices): void {
  const { deps, changes } = services;

  routes.session("GET /api/sessions/stats", {
    async handler(context) {
      const { archive } = await profileOf(services, context);
      const stats = await archive.stats();
      return json({
        sessions: stats.sessions,
        messages: stats.messages,
        active: await archive.countActive(epochSeconds(deps.clock) - ACTIVE_SECONDS),
        by_source: stats.bySource,
        size_bytes: stats.sizeBytes,
      });
    },
  });

  for (const key of ["GET /api/sessions/empty", "GET /api/sessions/empty/count"] as const) {
    routes.session(key, {
      async handler(context) {
        const { archive } = await profileOf(services, context);
        return json({ count: await archive.deleteEmpty({ dryRun: true }) });
      },
    });
  }

  routes.session("DELETE /api/sessions/empty", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const deleted = await profile.archive.deleteEmpty({ dryRun: false });
      changes.publish("sessions", profile.name);
      return json({ deleted, skipped: [] });
    },
  });

  routes.session("POST /api/sessions/bulk-delete", {
    body: z.object({ ids: z.array(word).check(z.minLength(1), z.maxLength(500)) }),
    async handler(context) {
      const profile = await profileOf(services, context);
      const skipped: { id: string; reason: string }[] = [];
      for (const id of context.body.ids) {
        const reason = await deleteOne(profile.archive, id);
        if (reason !== null) skipped.push({ id, reason });
      }
      changes.publish("sessions", profile.name);
      return json({ deleted: context.body.ids.length - skipped.length, skipped });
    },
  });

  routes.session("POST /api/sessions/prune", {
    body: z.object({
      older_than_days: z.int().check(z.minimum(1), z.maximum(36_500)),
      source: z.exactOptional(word),
    }),
    async handler(context) {
      const profile = await profileOf(services, context);
      const { older_than_days: days, source } = context.body;
      const pruned = await profile.archive.prune({
        olderThan: epochSeconds(deps.clock) - days * DAY_SECONDS,
        dryRun: false,
        ...(source === undefined ? {} : { source }),
      });
      changes.publish("sessions", profile.name);
      return json({ deleted: pruned.length, skipped: [] });
    },
  });

  routes.session("POST /api/sessions/import", {
    upload: {
      types: ["application/x-ndjson", "application/jsonl"],
      maxBytes: UPLOAD_LIMIT_BYTES,
    },
    async handler(context) {
      const profile = await profileOf(services, context);
      const report = await profile.archive.importLines(linesOf(context.bytes));
      changes.publish("sessions", profile.name);
      const { imported, skipped, renamed } = report;
      return json({ imported, skipped, renamed });
    },
  });
}

/** null: deleted; else why not. */
async function deleteOne(archive: SessionArchive, id: string): Promise<string | null> {
  try {
    await archive.deleteSession(id);
    return null;
  } catch (error) {
    if (isHermesError(error, "SESSION_BUSY")) return "running";
    if (isHermesError(error, "SESSION_NOT_FOUND")) return "not found";
    throw error;
  }
}

async function* linesOf(bytes: Buffer): AsyncGenerator<string> {
  for (const line of bytes.toString("utf8").split("\n")) {
    if (line.trim() !== "") yield line;
  }
}
