// What the Python version kept beside its state.db and we keep in it: chat routes and scheduled jobs (agent.md §6.7).
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import { getMeta, setMeta } from "./meta.ts";
import { isRecord, jsonOrNull } from "./rows.ts";
import type { Sql, Value } from "./sqlite.ts";

const DONE_KEY = "python_files_done";

export interface TakeoverFiles {
  readonly sessions: unknown;
  readonly jobs: unknown;
}

/** True until they were looked at once. */
export function wantsTakeoverFiles(sql: Sql): boolean {
  return getMeta(sql, DONE_KEY) === null;
}

export function readTakeoverFiles(statePath: string, log: Log): TakeoverFiles {
  const home = dirname(statePath);
  return {
    sessions: readJson(join(home, "sessions", "sessions.json"), log),
    jobs: readJson(join(home, "cron", "jobs.json"), log),
  };
}

/** null when missing; one that cannot be read is named in the log and costs nothing else. */
function readJson(path: string, log: Log): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") {
      log.warn("a file of the Python version was not taken over", {
        path,
        reason: messageOf(error),
      });
    }
    return null;
  }
}

/** In the caller's transaction, once: entries that are there already are left alone. */
export function takeTakeoverFiles(sql: Sql, files: TakeoverFiles, now: number): void {
  if (!wantsTakeoverFiles(sql)) return;
  if (isRecord(files.sessions)) {
    for (const [key, entry] of Object.entries(files.sessions)) addRoute(sql, key, entry, now);
  }
  const jobs = isRecord(files.jobs) ? files.jobs["jobs"] : files.jobs;
  if (Array.isArray(jobs)) for (const job of jobs) if (isRecord(job)) addJob(sql, job, now);
  setMeta(sql, DONE_KEY, "1");
}

/** Session key → id, or → an entry with the id and where the chat is. A route to nowhere is left out. */
function addRoute(sql: Sql, key: string, entry: unknown, now: number): void {
  const fields = isRecord(entry) ? entry : { session_id: entry };
  const id = text(fields["session_id"]);
  if (id === null || !sql.get("SELECT 1 FROM sessions WHERE id = ?", id)) return;
  const origin = isRecord(fields["origin"]) ? fields["origin"] : fields;
  sql.run(
    `INSERT OR IGNORE INTO routes(session_key, session_id, platform, chat_id, chat_name, user_id, thread_id, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    key,
    id,
    text(origin["platform"]) ?? text(fields["platform"]),
    text(origin["chat_id"]),
    text(origin["chat_name"]) ?? text(fields["display_name"]),
    text(origin["user_id"]),
    text(origin["thread_id"]),
    seconds(fields["updated_at"]) ?? now,
  );
  sql.run("UPDATE sessions SET session_key = ? WHERE id = ? AND session_key IS NULL", key, id);
}

type Fields = Readonly<Record<string, unknown>>;

function addJob(sql: Sql, job: Fields, now: number): void {
  const id = text(job["id"]);
  const prompt = text(job["prompt"]);
  const schedule = toSchedule(job["schedule"], text(job["schedule_display"]));
  if (id === null || prompt === null || schedule === null) return;
  const repeat = isRecord(job["repeat"]) ? job["repeat"] : {};
  const columns: Readonly<Record<string, Value>> = {
    id,
    name: text(job["name"]),
    prompt,
    schedule: JSON.stringify(schedule),
    timezone: text(job["timezone"]),
    skills: jsonOrNull(job["skills"] ?? job["skill"]),
    deliver: text(job["deliver"]),
    repeat_times: count(repeat["times"]),
    repeat_done: count(repeat["completed"]) ?? 0,
    enabled: job["enabled"] === false ? 0 : 1,
    state: toJobState(job["state"]),
    next_run_at: seconds(job["next_run_at"]),
    last_run_at: seconds(job["last_run_at"]),
    last_status: toJobStatus(job["last_status"]),
    last_error: text(job["last_error"]),
    provider: text(job["provider"]),
    model: text(job["model"]),
    workdir: text(job["workdir"]),
    origin: jsonOrNull(job["origin"]),
    created_at: seconds(job["created_at"]) ?? now,
  };
  const names = Object.keys(columns);
  sql.run(
    `INSERT OR IGNORE INTO cron_jobs(${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(columns),
  );
}

interface Schedule {
  readonly kind: "once" | "every" | "cron";
  readonly expr: string;
  readonly display: string;
}

/** `{kind: once, run_at}`, `{kind: interval, minutes}` and `{kind: cron, expr}` of the Python version. */
function toSchedule(value: unknown, display: string | null): Schedule | null {
  if (!isRecord(value)) return null;
  const minutes = count(value["minutes"]);
  const found = {
    once: text(value["run_at"]),
    every: minutes === null ? null : `${minutes}m`,
    cron: text(value["expr"]),
  };
  const kind = value["kind"] === "interval" ? "every" : value["kind"];
  if (kind !== "once" && kind !== "every" && kind !== "cron") return null;
  const expr = found[kind] ?? found.cron;
  return expr === null ? null : { kind, expr, display: display ?? text(value["display"]) ?? expr };
}

function toJobState(value: unknown): string {
  return value === "paused" || value === "completed" ? value : "scheduled";
}

function toJobStatus(value: unknown): string | null {
  if (value === "ok" || value === "delivery_failed" || value === "blocked") return value;
  return text(value) === null ? null : "error";
}

function text(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

/** Seconds since 1970 from a number of them or from ISO 8601. */
function seconds(value: unknown): number | null {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at / 1000;
}
