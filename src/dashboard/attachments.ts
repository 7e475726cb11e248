// Files that come with a message: <home>/cache/media/<id>/, kept 24 h unless a message uses them (dashboard.md §9.3,
// agent.md §4.5).
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { randomHex, type RandomBytes } from "#base/ids.ts";
import { cutStart } from "#base/text.ts";
import type { AttachmentBody } from "#protocol/http-chat.ts";
import { invalidField } from "./errors.ts";

const KEPT_MS = 24 * 3600 * 1000;
const RECORD = "attachment.json";

interface AttachmentRecord extends AttachmentBody {
  readonly used: boolean;
}

export interface NewAttachment {
  /** As the client sent it; only its last part is used. */
  readonly name: string;
  readonly mime: string;
  readonly bytes: Buffer;
}

export interface AttachmentDeps {
  readonly home: string;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

export function saveAttachment(deps: AttachmentDeps, input: NewAttachment): AttachmentBody {
  sweepAttachments(deps);
  const id = `att_${randomHex(24, deps.random)}`;
  const folder = join(mediaFolder(deps.home), id);
  const name = safeName(input.name);
  const body: AttachmentBody = { id, name, size: input.bytes.length, mime: input.mime };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, name), input.bytes, { mode: 0o600 });
  writeRecord(folder, { ...body, used: false });
  return body;
}

/** The lines that name the files in the user text; marks them as used. An unknown id throws 422. */
export function useAttachments(home: string, ids: readonly string[]): readonly string[] {
  return ids.map((id) => {
    const folder = join(mediaFolder(home), id);
    const record = /^att_[0-9a-f]{24}$/.test(id) ? readRecord(folder) : null;
    if (!record) throw invalidField("body", "attachments", `unknown attachment ${id.slice(0, 40)}`);
    if (!record.used) writeRecord(folder, { ...record, used: true });
    return `[file: ${join(folder, record.name)}, ${record.mime}, ${record.size}]`;
  });
}

/** Removes what nobody used for 24 h. */
export function sweepAttachments({ home, clock }: Pick<AttachmentDeps, "home" | "clock">): void {
  const media = mediaFolder(home);
  for (const id of namesIn(media)) {
    const folder = join(media, id);
    const record = id.startsWith("att_") ? readRecord(folder) : null;
    if (!record || record.used) continue;
    const madeAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? clock.now();
    if (clock.now() - madeAt > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function mediaFolder(home: string): string {
  return join(home, "cache", "media");
}

/** No folder, no control character, no leading dot, nothing that could break the line it is named in. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const clean = cutStart(
    last.replaceAll(/[\p{C}\p{Zl}\p{Zp}[\],]/gu, "_").replace(/^\.+/, ""),
    100,
  );
  const free = clean.trim() || "file";
  return free === RECORD ? `_${free}` : free;
}

function writeRecord(folder: string, record: AttachmentRecord): void {
  writeFileSync(join(folder, RECORD), JSON.stringify(record), { mode: 0o600 });
}

function readRecord(folder: string): AttachmentRecord | null {
  try {
    return JSON.parse(readFileSync(join(folder, RECORD), "utf8")) as AttachmentRecord;
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
