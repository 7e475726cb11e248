// Who listens on a port, from /proc: for the message about a busy port (field-rules A10). Linux only, best effort.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface PortHolder {
  readonly pid: number;
  readonly command: string;
}

const LISTEN = "0A";

/** null when nobody is found, or the holder belongs to a user whose descriptors we may not read. */
export function findPortHolder(port: number): PortHolder | null {
  const inodes = new Set(["tcp", "tcp6"].flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return null;
  for (const entry of list("/proc")) {
    if (/^\d+$/.test(entry) && holdsOne(entry, inodes)) {
      return { pid: Number(entry), command: commandOf(entry) };
    }
  }
  return null;
}

/** Columns of /proc/net/tcp (proc_net_tcp(5)): 1 local address, 3 state, 9 inode. */
function listeningInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return read(`/proc/net/${table}`)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${hex}`) && columns[3] === LISTEN)
    .map((columns) => columns[9] ?? "");
}

function holdsOne(pid: string, inodes: ReadonlySet<string>): boolean {
  return list(`/proc/${pid}/fd`).some((descriptor) => {
    const match = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${descriptor}`));
    return match !== null && inodes.has(match[1] ?? "");
  });
}

function commandOf(pid: string): string {
  const words = read(`/proc/${pid}/cmdline`).split("\0").filter(Boolean);
  return words.slice(0, 4).join(" ").slice(0, 120) || "?";
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
