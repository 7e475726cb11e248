// `basic`: one user name and password (dashboard.md §5.5).
import { createHash } from "node:crypto";
import { AuthError } from "./auth-error.ts";
import { epochOf, isSameText } from "./digest.ts";
import {
  formatHash,
  hashPasswordSync,
  isPassword,
  parseHash,
  type PasswordHash,
} from "./password-hash.ts";
import { parseProviderName, type PasswordProvider, type ProviderName } from "./provider.ts";
import type { Offer } from "./registry.ts";
import type { Secret } from "./secret.ts";
import type { BasicSettings } from "./settings.ts";
import { createWorkQueue } from "./work-queue.ts";

const NAME = parseProviderName("basic") as ProviderName;
const USERNAME = "HERMES_DASHBOARD_BASIC_AUTH_USERNAME (dashboard.basic_auth.username)";
const PASSWORD = "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD (dashboard.basic_auth.password)";
const HASH = "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_HASH (dashboard.basic_auth.password_hash)";
const WAY_OUT = "`hermes dashboard set-password` sets both";
const SHORT = 8;
const AT_A_TIME = 2;
const MOST_WAITING = 20;

export function offerBasic(settings: BasicSettings): Offer {
  const { username } = settings;
  const chosen = chosenOf(settings);
  if (username === "" && chosen === null) {
    const reason = `${USERNAME} and ${PASSWORD} are not set; ${WAY_OUT}`;
    return { status: "skipped", name: NAME, reason };
  }
  if (chosen === null) return invalid(`${USERNAME} is set, but no password is; ${WAY_OUT}`);
  if (username.trim() === "")
    return invalid(`a password is set, but ${USERNAME} is not; ${WAY_OUT}`);
  return chosen.kind === "password"
    ? fromPassword(username, chosen.secret)
    : fromHash(username, chosen.secret);
}

interface Chosen {
  readonly kind: "password" | "hash";
  readonly secret: Secret;
}

function chosenOf({ password, passwordHash, prefers }: BasicSettings): Chosen | null {
  const ofPassword = password && ({ kind: "password", secret: password } as const);
  const ofHash = passwordHash && ({ kind: "hash", secret: passwordHash } as const);
  return prefers === "password" ? (ofPassword ?? ofHash) : (ofHash ?? ofPassword);
}

function invalid(reason: string): Offer {
  return { status: "invalid", name: NAME, reason };
}

function fromHash(username: string, secret: Secret): Offer {
  const reading = parseHash(secret.reveal());
  if (!reading.ok) return invalid(`${HASH} ${reading.reason}; ${WAY_OUT}`);
  return ready(username, () => reading.hash, []);
}

/** Made into a hash at first use: 40 ms that a start need not wait for. */
function fromPassword(username: string, secret: Secret): Offer {
  let hash: PasswordHash | null = null;
  const hashOnce = (): PasswordHash => {
    hash ??= hashPasswordSync(secret.reveal(), saltOf(username));
    return hash;
  };
  const warnings =
    secret.reveal().length < SHORT ? [`${PASSWORD} has fewer than ${SHORT} characters`] : [];
  return ready(username, hashOnce, warnings);
}

/** The same at each start, so that the epoch is too and sessions survive it. */
function saltOf(username: string): Buffer {
  return createHash("sha256")
    .update(`hermes dashboard basic\0${username}`, "utf8")
    .digest()
    .subarray(0, 16);
}

function ready(username: string, hash: () => PasswordHash, warnings: readonly string[]): Offer {
  return { status: "ready", name: NAME, provider: createBasic(username, hash), warnings };
}

function createBasic(username: string, hash: () => PasswordHash): PasswordProvider {
  const queue = createWorkQueue(AT_A_TIME, MOST_WAITING);
  let epoch: string | null = null;
  return {
    kind: "password",
    name: NAME,
    displayName: "Username & Password",

    /** Of the hash, never of the password: it lies in session files, where a quick digest could be guessed at. */
    get epoch() {
      epoch ??= epochOf(NAME, username, formatHash(hash()));
      return epoch;
    },

    async verifyPassword({ username: given, password, signal }) {
      const isName = isSameText(given, username);
      // Computed for an unknown name too, so that the answer takes as long.
      const isRight = await queue.run(() => isPassword(password, hash()), signal);
      if (isName && isRight) {
        return { userId: username, email: "", displayName: username, orgId: "" };
      }
      throw new AuthError("invalid_credentials", "user name or password is wrong");
    },
  };
}
