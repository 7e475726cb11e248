// The secret behind session records: from the settings, else a file of the home that is made once (dashboard.md §6.5).
import { createHmac, hkdfSync } from "node:crypto";
import { mkdirSync, openSync, closeSync, writeSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf, HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import type { RandomBytes } from "#base/ids.ts";

const KEY_BYTES = 32;

export function sessionKeyPath(home: string): string {
  return join(home, "dashboard", "session.key");
}

export interface SessionKey {
  /** Key for the tokens of one session: without its id, which only the browser has, the file is worthless. */
  sealingKey(id: string): Buffer;
  /** Over the text of a record, base64url. */
  mac(text: string): string;
  /** True, once, after the key file was replaced: everything made with the old key is dead. */
  reload(): boolean;
}

/** `configured`: the setting's text, null to use the home's file. Throws SESSION_KEY_UNUSABLE (78). */
export function openSessionKey(
  home: string,
  configured: string | null,
  random: RandomBytes,
): SessionKey {
  if (configured !== null)
    return keyOf(
      () => Buffer.from(configured, "utf8"),
      () => "",
    );
  const path = sessionKeyPath(home);
  return keyOf(
    () => readOrMake(path, random),
    () => stampOf(path),
  );
}

/** Writes a new key: every session that was made with the old one is dead. */
export function rotateSessionKey(home: string, random: RandomBytes): void {
  const path = sessionKeyPath(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomic(path, random(KEY_BYTES), { mode: 0o600 });
}

function keyOf(read: () => Buffer, stamp: () => string): SessionKey {
  let secret = read();
  let seen = stamp();
  let macKey = deriveMacKey(secret);
  return {
    sealingKey: (id) => derive(Buffer.from(id, "utf8"), secret, "hermes session tokens 1"),
    mac: (text) => createHmac("sha256", macKey).update(text, "utf8").digest("base64url"),
    reload() {
      if (stamp() === seen) return false;
      const next = read();
      seen = stamp();
      const changed = !next.equals(secret);
      secret = next;
      macKey = deriveMacKey(next);
      return changed;
    },
  };
}

function deriveMacKey(secret: Buffer): Buffer {
  return derive(secret, Buffer.alloc(0), "hermes session record 1");
}

function derive(material: Buffer, salt: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", material, salt, purpose, KEY_BYTES));
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino}:${found.mtimeMs}:${found.size}` : "";
}

function readOrMake(path: string, random: RandomBytes): Buffer {
  try {
    return checked(readFileSync(path), path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw unusable(path, error);
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const key = Buffer.from(random(KEY_BYTES));
    const descriptor = openSync(path, "wx", 0o600);
    writeSync(descriptor, key);
    closeSync(descriptor);
    return key;
  } catch (error) {
    throw unusable(path, error);
  }
}

function checked(key: Buffer, path: string): Buffer {
  if (key.length >= KEY_BYTES) return key;
  throw unusable(path, new Error(`it holds ${key.length} bytes, not ${KEY_BYTES}`));
}

function unusable(path: string, cause: unknown): HermesError {
  if (cause instanceof HermesError) return cause;
  return new HermesError(
    "SESSION_KEY_UNUSABLE",
    `The key of the login sessions cannot be used (${path}): ${messageOf(cause)}`,
    {
      exit: EXIT.refused,
      setting: "dashboard.session.secret",
      fix: "Correct owner and mode of that file, or remove it: a new one is made and everybody signs in again.",
      cause,
    },
  );
}
