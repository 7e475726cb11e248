// The processes that a process started, from /proc (Linux; elsewhere there are none).
import { readdirSync, readFileSync } from "node:fs";

/** Pids below `root`, parents first, without `root`. */
export function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of allPids()) {
    const parent = parentOf(pid);
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [...(children.get(root) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function allPids(): number[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/u.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** `pid (name) state ppid …`; the name may hold brackets and spaces (proc(5)). */
function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}
