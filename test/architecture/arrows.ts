// Judges one import against the table.
import { AGENT_FORBIDDEN, CONFINED, ROOMS } from "./rooms.ts";
import { targetOf, type Import } from "./imports.ts";

/** Rooms that the table limits to named packages as well; the others may use any dependency of ours. */
const PACKAGES_LIMITED: ReadonlySet<string> = new Set([
  "base",
  "protocol",
  "config",
  "profile",
  "agent",
]);

/** The sentence of what is wrong with an import, or null. */
export function judge(item: Import): string | null {
  const room = item.file.split("/")[0] ?? "";
  const rule = ROOMS[room];
  if (!rule) return `${item.file}: no room named "${room}" in the table`;
  const isTest = item.file.endsWith(".test.ts");
  const target = targetOf(item.file, item.specifier);
  if (target.startsWith("..")) {
    return isTest ? null : `${item.file} leaves src by "${item.specifier}"`;
  }
  if (/^(?:#|\.)/u.test(item.specifier)) return judgeRoom(item, room, target, isTest);
  return isTest ? null : judgePackage(item, room);
}

function judgeRoom(item: Import, room: string, target: string, isTest: boolean): string | null {
  const rule = ROOMS[room];
  const other = target.split("/")[0] ?? "";
  if (other === room) {
    return item.specifier.startsWith("#")
      ? `${item.file}: inside a room write "./…", not "${item.specifier}"`
      : null;
  }
  if (item.specifier.startsWith(".")) return `${item.file}: across rooms write "#${target}"`;
  if (!rule || rule.may.includes("*") || rule.may.includes(other)) return null;
  if (rule.may.includes("agent/ports") && target.startsWith("agent/ports/")) return null;
  // A room's tests may use the fakes' counterparts, production code may not.
  if (isTest) return null;
  return `${item.file} imports #${target}: ${room} may import only [${rule.may.join(", ")}], because ${rule.because}`;
}

function judgePackage(item: Import, room: string): string | null {
  for (const confined of CONFINED) {
    if (item.specifier === confined.module && !confined.rooms.includes(room)) {
      return `${item.file} imports ${item.specifier}: only [${confined.rooms.join(", ")}] may, because ${confined.because}`;
    }
  }
  if (room === "agent" && AGENT_FORBIDDEN.some((pattern) => pattern.test(item.specifier))) {
    return `${item.file} imports ${item.specifier}: ${ROOMS["agent"]?.because ?? ""}`;
  }
  const limited = PACKAGES_LIMITED.has(room) && !item.specifier.startsWith("node:");
  if (limited && !ROOMS[room]?.may.includes(item.specifier)) {
    return `${item.file} imports the package ${item.specifier}: not in the table for ${room}`;
  }
  if (item.specifier === "zod")
    return `${item.file} imports zod: zod/mini only, zod doubles a bare start`;
  return null;
}
