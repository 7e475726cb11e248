import assert from "node:assert/strict";
import { scryptSync } from "node:crypto";
import { test } from "node:test";
import { isAuthError } from "./auth-error.ts";
import { offerBasic } from "./basic.ts";
import { hashPassword, isPassword, parseHash } from "./password-hash.ts";
import type { PasswordProvider } from "./provider.ts";
import { Secret } from "./secret.ts";
import type { BasicSettings } from "./settings.ts";

const signal = new AbortController().signal;
const PASSWORD = "correct horse battery";

function provider(settings: Partial<BasicSettings>): PasswordProvider {
  const offer = offerBasic({
    username: "ada",
    password: null,
    passwordHash: null,
    prefers: "hash",
    ...settings,
  });
  assert.ok(offer.status === "ready", offer.status);
  assert.ok(offer.provider.kind === "password");
  return offer.provider;
}

const isIn = (to: PasswordProvider, password: string, username = "ada"): Promise<boolean> =>
  to.verifyPassword({ username, password, signal }).then(
    () => true,
    (error: unknown) => {
      assert.ok(isAuthError(error, "invalid_credentials"));
      return false;
    },
  );

test("a hash made here, and one made elsewhere with other numbers", async () => {
  const made = await hashPassword(PASSWORD);
  assert.match(made, /^scrypt\$16384\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/u);
  assert.notEqual(made, await hashPassword(PASSWORD));
  const salt = Buffer.from("0123456789abcdef");
  const key = scryptSync(PASSWORD, salt, 64, { N: 1024, r: 4, p: 2 });
  const elsewhere = `scrypt$1024$4$2$${salt.toString("base64")}$${key.toString("base64")}`;
  for (const text of [made, elsewhere, ` ${elsewhere}\n`]) {
    const to = provider({ passwordHash: new Secret(text) });
    assert.equal(await isIn(to, PASSWORD), true);
    assert.equal(await isIn(to, `${PASSWORD} `), false);
  }
});

test("the dearest hash that is allowed can be computed", async () => {
  const salt = "AAAAAAAAAAAAAAAAAAAAAA==";
  const reading = parseHash(`scrypt$131072$16$1$${salt}$${salt}`);
  assert.ok(reading.ok);
  assert.equal(await isPassword(PASSWORD, reading.hash), false);
});

test("which of password and hash counts", async () => {
  const password = new Secret("from the environment");
  const passwordHash = new Secret(await hashPassword("from the file"));
  const preferred = provider({ password, passwordHash, prefers: "password" });
  assert.equal(await isIn(preferred, "from the environment"), true);
  assert.equal(await isIn(preferred, "from the file"), false);
  assert.equal(await isIn(provider({ password, passwordHash }), "from the file"), true);
});

test("the epoch changes with name, password and hash, and says nothing about the password", async () => {
  const one = new Secret(await hashPassword(PASSWORD));
  const two = new Secret(await hashPassword(PASSWORD));
  const epochs = [
    provider({ passwordHash: one }),
    provider({ passwordHash: two }),
    provider({ passwordHash: one, username: "bob" }),
    provider({ password: new Secret(PASSWORD) }),
    provider({ password: new Secret(`${PASSWORD}!`) }),
    provider({ password: new Secret(PASSWORD), username: "bob" }),
  ].map(({ epoch }) => epoch);
  assert.equal(new Set(epochs).size, epochs.length);
  assert.equal(provider({ password: new Secret(PASSWORD) }).epoch, epochs[3]);
});

test("an unknown name costs one computation like a known one, and is told the same", async () => {
  const to = provider({ passwordHash: new Secret(await hashPassword(PASSWORD)) });
  const cpu = async (username: string): Promise<number> => {
    const before = process.cpuUsage();
    for (let count = 0; count < 5; count++) await isIn(to, "wrong", username);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await cpu("ada");
  const [known, unknown] = [await cpu("ada"), await cpu("nobody")];
  assert.ok(unknown > known / 3, `${known} µs, ${unknown} µs`);
});

test("2 at a time, 20 wait, the 23rd is told to come back", async () => {
  const to = provider({ passwordHash: new Secret(await hashPassword(PASSWORD)) });
  const tries = Array.from({ length: 30 }, () =>
    to.verifyPassword({ username: "ada", password: PASSWORD, signal }).then(
      () => "in",
      (error: unknown) => (isAuthError(error) ? error.code : "other"),
    ),
  );
  const outcomes = await Promise.all(tries);
  assert.equal(outcomes.filter((outcome) => outcome === "in").length, 22);
  assert.deepEqual(
    outcomes.slice(22),
    Array.from({ length: 8 }, () => "busy"),
  );
  assert.equal(await isIn(to, PASSWORD), true, "the line is empty again");
});

test("who gives up while waiting leaves the line", async () => {
  const to = provider({ passwordHash: new Secret(await hashPassword(PASSWORD)) });
  const ask = (given: AbortSignal) =>
    to.verifyPassword({ username: "ada", password: PASSWORD, signal: given });
  const first = [ask(signal), ask(signal)];
  const gone = new AbortController();
  const leaving = Array.from({ length: 20 }, () =>
    assert.rejects(ask(gone.signal), (error) => isAuthError(error, "unreachable")),
  );
  gone.abort();
  await Promise.all(leaving);
  await Promise.all([...first, ask(signal)]);
});
