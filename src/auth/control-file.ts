// What the command line tells a running dashboard: lines in a file of the home, read once a second (dashboard.md §10).
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import type { Clock, Timer } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";

const EVERY_MS = 1000;
const MOST_BYTES = 64 * 1024;

const order = z.object({
  /** null: everybody. */
  unlock: z.nullable(z.string().check(z.maxLength(1024))),
});
export type ControlOrder = z.infer<typeof order>;

export function controlPath(home: string): string {
  return join(home, "dashboard", "control.jsonl");
}

/** Appends one order; the dashboard takes the file away when it has read it. */
export function writeControl(home: string, what: ControlOrder): void {
  const path = controlPath(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  appendFileSync(path, `${JSON.stringify(what)}\n`, { mode: 0o600 });
}

export function isControlPending(home: string): boolean {
  return existsSync(controlPath(home));
}

/** Calls `run` for each order. Returns how to stop. */
export function watchControl(
  home: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  run: (what: ControlOrder) => void,
): () => void {
  let timer: Timer | null = null;
  const look = (): void => {
    try {
      for (const what of takeOrders(controlPath(home), log)) run(what);
    } catch (error) {
      log.warn(`the control file cannot be read: ${messageOf(error)}`);
    }
    timer = clock.after(EVERY_MS, look);
  };
  timer = clock.after(EVERY_MS, look);
  return () => timer?.cancel();
}

function takeOrders(path: string, log: Log): ControlOrder[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  const taken = `${path}.taken`;
  renameSync(path, taken);
  const lines = found.size > MOST_BYTES ? [] : readFileSync(taken, "utf8").split("\n");
  rmSync(taken, { force: true });
  const orders = lines.filter(Boolean).map(parseOrder);
  if (orders.includes(null) || found.size > MOST_BYTES) {
    log.warn("the control file holds lines that are no orders: ignored");
  }
  return orders.filter((what) => what !== null);
}

function parseOrder(text: string): ControlOrder | null {
  try {
    return order.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
