// All logins of one dashboard: in memory for speed, on disk to survive a restart and to be revoked by removing a file
// (dashboard.md §6.5).
import { hash } from "node:crypto";
import type { Clock, Timer } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import { randomToken, type RandomBytes } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { Tokens } from "../providers/provider.ts";
import { parseRecord, serialiseRecord, type StoredSession } from "./record-file.ts";
import { openTokens, sealTokens } from "./seal.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { SessionKey } from "./session-key.ts";
import { isLiveAt, isSameUser, type Session, type SessionEnd } from "./session.ts";

const MOST_SESSIONS = 1000;
const MOST_PER_USER = 50;
const TICK_MS = 1000;
const WRITE_LAST_SEEN_SECONDS = 60;
const ID = /^[A-Za-z0-9_-]{43}$/;

export type NewSession = Omit<
  Session,
  "digest" | "createdAt" | "lastSeenAt" | "absoluteEnd" | "idleEnd" | "accessExpiresAt"
> & { readonly absoluteSeconds: number; readonly idleSeconds: number };

export interface SessionRecords {
  /** Written to disk before it returns; the system's error when that fails. */
  create(
    input: NewSession,
    tokens: Tokens | null,
  ): { readonly id: string; readonly session: Session };
  /** null: unknown, ended, or past one of its times. */
  find(id: string): Session | null;
  /** As `find`, from the file and not from memory (class R). */
  recheck(id: string): Session | null;
  byDigest(digest: string): Session | null;
  /** As `byDigest`, from the file. */
  recheckDigest(digest: string): Session | null;
  /** Somebody used it. Written to disk at most once a minute. */
  touch(session: Session): void;
  /** null: none, or sealed with another key. */
  tokensOf(id: string): Tokens | null;
  /** On disk when it returns. null: the session ended in the meantime; the system's error when it cannot be written. */
  replaceTokens(id: string, tokens: Tokens): Session | null;
  replaceNative(id: string, native: Session["native"]): Session | null;
  /** null: there was none. */
  end(digest: string, why: SessionEnd): Session | null;
  list(): readonly Session[];
  /** Returns how to stop listening. Called after the record is gone, for every end, whatever its reason. */
  onEnd(listener: (session: Session, why: SessionEnd) => void): () => void;
  close(): void;
}

export interface RecordsDeps {
  readonly folder: SessionFolder;
  readonly key: SessionKey;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

interface Entry {
  stored: StoredSession;
  stamp: string;
  writtenSeenAt: number;
}

export function digestOfId(id: string): string {
  return hash("sha256", id, "hex");
}

/** Reads all records; throws when the folder cannot be read or made. */
export function openSessionRecords(deps: RecordsDeps): SessionRecords {
  const records = new Records(deps);
  records.load();
  records.start();
  return records;
}

class Records implements SessionRecords {
  readonly #deps: RecordsDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<(session: Session, why: SessionEnd) => void>();
  #folderStamp = "";
  #timer: Timer | null = null;
  #warned = false;

  constructor(deps: RecordsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = this.#deps.clock.after(TICK_MS, () => {
      this.#tick();
      if (this.#timer) this.start();
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const entry of this.#entries.values()) {
      if (entry.stored.session.lastSeenAt > entry.writtenSeenAt) this.#tryWrite(entry);
    }
  }

  /** New files come in; bad ones are removed, unreadable ones left; one warning for all of them. */
  load(): void {
    const { folder, key, log } = this.#deps;
    const names = folder.names();
    this.#folderStamp = folder.folderStamp();
    let removed = 0;
    let left = 0;
    for (const name of names) {
      if (this.#entries.has(name)) continue;
      const found = folder.read(name);
      const stored = found.state === "text" ? parseRecord(found.text, name, key) : null;
      if (found.state === "unreadable") left += 1;
      if (found.state !== "text") continue;
      if (stored) this.#put(stored, found.stamp);
      else {
        folder.remove(name);
        removed += 1;
      }
    }
    if (removed + left > 0) {
      log.warn(`login sessions: ${removed} invalid records removed, ${left} unreadable ones left`);
    }
    this.#dropExpired();
    while (this.#entries.size > MOST_SESSIONS) this.#endOldest(() => true);
  }

  create(input: NewSession, tokens: Tokens | null): { id: string; session: Session } {
    const { clock, key, random } = this.#deps;
    const { absoluteSeconds, idleSeconds, ...given } = input;
    const id = randomToken(random);
    const digest = digestOfId(id);
    const now = seconds(clock);
    const session: Session = {
      ...given,
      digest,
      createdAt: now,
      lastSeenAt: now,
      absoluteEnd: now + absoluteSeconds,
      idleEnd: now + idleSeconds,
      accessExpiresAt: expiryOf(tokens),
    };
    const sealed = tokens && sealTokens(tokens, key.sealingKey(id), digest, random);
    this.#makeRoom(session);
    const stamp = this.#write({ session, sealed });
    this.#put({ session, sealed }, stamp);
    return { id, session };
  }

  find(id: string): Session | null {
    return ID.test(id) ? this.byDigest(digestOfId(id)) : null;
  }

  recheck(id: string): Session | null {
    return ID.test(id) ? this.recheckDigest(digestOfId(id)) : null;
  }

  recheckDigest(digest: string): Session | null {
    const entry = this.#entries.get(digest);
    if (entry) this.#reread(entry);
    return this.byDigest(digest);
  }

  byDigest(digest: string): Session | null {
    const session = this.#entries.get(digest)?.stored.session;
    return session && isLiveAt(session, this.#deps.clock.now() / 1000) ? session : null;
  }

  touch(session: Session): void {
    const entry = this.#entries.get(session.digest);
    const now = seconds(this.#deps.clock);
    if (!entry || now <= entry.stored.session.lastSeenAt) return;
    const old = entry.stored.session;
    const idleEnd = old.idleEnd + (now - old.lastSeenAt);
    entry.stored = { ...entry.stored, session: { ...old, lastSeenAt: now, idleEnd } };
  }

  tokensOf(id: string): Tokens | null {
    const digest = digestOfId(id);
    const sealed = this.#entries.get(digest)?.stored.sealed ?? null;
    return sealed === null ? null : openTokens(sealed, this.#deps.key.sealingKey(id), digest);
  }

  replaceTokens(id: string, tokens: Tokens): Session | null {
    const { key, random } = this.#deps;
    const digest = digestOfId(id);
    const sealed = sealTokens(tokens, key.sealingKey(id), digest, random);
    return this.#replace(digest, ({ session }) => ({
      session: { ...session, accessExpiresAt: expiryOf(tokens) },
      sealed,
    }));
  }

  replaceNative(id: string, native: Session["native"]): Session | null {
    return this.#replace(digestOfId(id), ({ session, sealed }) => ({
      session: { ...session, native },
      sealed,
    }));
  }

  end(digest: string, why: SessionEnd): Session | null {
    const entry = this.#entries.get(digest);
    if (!entry) return null;
    this.#entries.delete(digest);
    this.#deps.folder.remove(digest);
    for (const listener of this.#listeners) listener(entry.stored.session, why);
    return entry.stored.session;
  }

  list(): readonly Session[] {
    return [...this.#entries.keys()].flatMap((digest) => this.byDigest(digest) ?? []);
  }

  onEnd(listener: (session: Session, why: SessionEnd) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #put(stored: StoredSession, stamp: string): void {
    const { lastSeenAt, digest } = stored.session;
    this.#entries.set(digest, { stored, stamp, writtenSeenAt: lastSeenAt });
  }

  #replace(digest: string, change: (stored: StoredSession) => StoredSession): Session | null {
    const entry = this.#entries.get(digest);
    if (!entry || !this.#isUnchanged(entry)) return null;
    const stored = change(entry.stored);
    // In memory first: if the disk refuses, this process at least goes on with what the provider gave.
    entry.stored = stored;
    entry.stamp = this.#write(stored);
    entry.writtenSeenAt = stored.session.lastSeenAt;
    return stored.session;
  }

  #write(stored: StoredSession): string {
    return this.#deps.folder.write(stored.session.digest, serialiseRecord(stored, this.#deps.key));
  }

  #tryWrite(entry: Entry): void {
    entry.writtenSeenAt = entry.stored.session.lastSeenAt;
    try {
      entry.stamp = this.#write(entry.stored);
    } catch (error) {
      if (!this.#warned) {
        this.#deps.log.warn(`a login session cannot be written: ${messageOf(error)}`);
      }
      this.#warned = true;
    }
  }

  /** Once a second: a file that went or changed, an end that came, a last use to write down. */
  #tick(): void {
    try {
      if (this.#deps.key.reload()) this.#endAll("revoked");
      for (const entry of this.#entries.values()) {
        if (!this.#isUnchanged(entry)) continue;
        const { lastSeenAt } = entry.stored.session;
        if (lastSeenAt - entry.writtenSeenAt >= WRITE_LAST_SEEN_SECONDS) this.#tryWrite(entry);
      }
      this.#dropExpired();
      if (this.#deps.folder.folderStamp() !== this.#folderStamp) this.load();
    } catch (error) {
      this.#deps.log.error(`login sessions could not be checked: ${messageOf(error)}`);
    }
  }

  /** False when the record is gone. A changed file is read again. */
  #isUnchanged(entry: Entry): boolean {
    const { digest } = entry.stored.session;
    return this.#deps.folder.stamp(digest) === entry.stamp || this.#reread(entry);
  }

  #reread(entry: Entry): boolean {
    const { folder, key, log } = this.#deps;
    const { digest } = entry.stored.session;
    const found = folder.read(digest);
    if (found.state === "unreadable") return true;
    const stored = found.state === "text" ? parseRecord(found.text, digest, key) : null;
    if (!stored || found.state !== "text") {
      if (found.state === "text") log.warn("a login session was changed by somebody else: ended");
      this.end(digest, "revoked");
      return false;
    }
    if (found.stamp !== entry.stamp) {
      entry.stored = stored;
      entry.stamp = found.stamp;
    }
    return true;
  }

  #dropExpired(): void {
    const now = this.#deps.clock.now() / 1000;
    for (const { stored } of this.#entries.values()) {
      if (!isLiveAt(stored.session, now)) this.end(stored.session.digest, "expired");
    }
  }

  #endAll(why: SessionEnd): void {
    for (const digest of this.#entries.keys()) this.end(digest, why);
  }

  #makeRoom(coming: Session): void {
    const own = (session: Session): boolean => isSameUser(session, coming);
    const mine = [...this.#entries.values()].filter(({ stored }) => own(stored.session)).length;
    if (mine >= MOST_PER_USER) this.#endOldest(own);
    if (this.#entries.size >= MOST_SESSIONS) this.#endOldest(() => true);
  }

  #endOldest(among: (session: Session) => boolean): void {
    let oldest: Session | null = null;
    for (const { stored } of this.#entries.values()) {
      const { session } = stored;
      if (among(session) && (!oldest || session.lastSeenAt < oldest.lastSeenAt)) oldest = session;
    }
    if (oldest) this.end(oldest.digest, "evicted");
  }
}

/** Whole seconds, so that what is written is what is compared. */
function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

/** Only what can be refreshed has an end of its own. */
function expiryOf(tokens: Tokens | null): number | null {
  return tokens?.refresh ? Math.floor(tokens.accessExpiresAt) : null;
}
