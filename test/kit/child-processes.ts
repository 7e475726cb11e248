// Who runs below a process, from /proc.
import { readdirSync, readFileSync } from "node:fs";

/** Living children of `parent`, not their children. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isChild(pid, parent));
}

/** proc_pid_stat(5): fields are counted from the last ")". */
function isChild(pid: number, parent: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, whose] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && Number(whose) === parent;
  } catch {
    return false;
  }
}
