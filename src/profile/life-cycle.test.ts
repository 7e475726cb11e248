import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { create as createTar, list as listTar } from "tar";
import { isHermesError } from "#base/errors.ts";
import { loadConfig } from "#config/load.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { readActiveName, useProfile } from "./active.ts";
import { hasAlias, makeAlias, removeAlias, type AliasPlace } from "./alias.ts";
import { createProfile } from "./create.ts";
import { exportProfile } from "./export.ts";
import { findProfile } from "./find.ts";
import { ensureHome } from "./home.ts";
import { noHook, type ProfileChange, type ProfileKeeper } from "./hook.ts";
import { importProfile, inspectArchive } from "./import.ts";
import { moveTree } from "./move-tree.ts";
import { parseProfileName, type ProfileName } from "./name.ts";
import { removeProfile } from "./remove.ts";
import { renameProfile } from "./rename.ts";
import { repairProfiles } from "./repair.ts";
import { withoutOwn, withoutOwnVariables, withoutSecrets } from "./shareless.ts";

const name = (text: string): ProfileName => parseProfileName(text, []);
const code =
  (expected: string) =>
  (error: unknown): boolean =>
    isHermesError(error, expected);

interface Keeper extends ProfileKeeper {
  readonly steps: string[];
}

function keeper(options: { running?: boolean; fail?: string } = {}): Keeper {
  const steps: string[] = [];
  const step = async (what: string): Promise<void> => {
    steps.push(what);
    if (what === options.fail) throw new Error(`${what} failed`);
  };
  const of = (change: ProfileChange): string =>
    change.kind === "renamed" ? `${change.from.name} ${change.to.name}` : change.profile.name;
  return {
    steps,
    hook: (change) => step(`${change.kind} ${of(change)}`),
    async leave(profile) {
      await step(`leave ${profile.name}`);
      return { wasRunning: options.running ?? false };
    },
    start: (profile) => step(`start ${profile.name}`),
  };
}

function newRoot(t: TestContext): string {
  const root = join(tempDir(t), "root");
  ensureHome(root);
  return root;
}

const CONFIG = `# mine
model:
  default: m # the model
  api_key: sk-model
telegram:
  token: 123:abc
  allowed_users: [1]
  require_mention: false
TELEGRAM_HOME_CHANNEL: "77"
platforms:
  api_server:
    enabled: true
    port: 8642
    extra: { key: secret-of-the-api, note: kept }
  slack:
    home_channel: C1
    toolset: hermes-cli
gateway:
  platforms:
    discord:
      bot_token: xyz
`;

test("what two profiles never share is taken out, comments and the rest stay", () => {
  const left = withoutOwn(CONFIG);
  for (const secret of ["123:abc", "secret-of-the-api", "xyz", "C1", "77", "8642", "allowed_users"])
    assert.equal(left.includes(secret), false, secret);
  for (const kept of [
    "# mine",
    "# the model",
    "sk-model",
    "require_mention: false",
    "note: kept",
    "toolset: hermes-cli",
  ])
    assert.ok(left.includes(kept), kept);
  assert.equal(withoutSecrets(CONFIG).includes("sk-model"), false);
  assert.throws(() => withoutOwn("{"), code("CONFIG_BROKEN"));
});

test(".env loses the names that count per profile, and nothing else changes", () => {
  const text =
    "# keys\nOPENROUTER_API_KEY=sk-1\nexport TELEGRAM_BOT_TOKEN='a\nb'\nAPI_SERVER_KEY_FILE=/run/k\nbad line\nAPI_SERVER_PORT=8642\nMY_OWN=1\n";
  assert.equal(withoutOwnVariables(text), "# keys\nOPENROUTER_API_KEY=sk-1\nbad line\nMY_OWN=1\n");
});

test("row 50: a clone has the settings, no tokens, and a port of its own", async (t) => {
  const root = newRoot(t);
  writeFileSync(join(root, "config.yaml"), CONFIG);
  writeFileSync(join(root, ".env"), "API_SERVER_KEY=sixteen-characters-1\nOPENAI_API_KEY=sk-o\n");
  writeFileSync(join(root, "SOUL.md"), "I am the source.\n");
  writeFileSync(join(root, "memories", "MEMORY.md"), "a fact\n");
  mkdirSync(join(root, "skills", "x", "y"), { recursive: true });
  writeFileSync(join(root, "skills", "x", "y", "SKILL.md"), "skill\n");
  symlinkSync("/etc/passwd", join(root, "skills", "x", "link"));
  writeFileSync(join(root, "workspace", "draft.txt"), "draft\n");
  writeFileSync(join(root, "state.db"), "history");
  const source = findProfile(root, "default");
  const clone = { source, all: false, sourceEnv: {} };
  const first = await createProfile({ root, name: name("one"), clone }, noHook);
  assert.deepEqual(first.ports, [{ platform: "api_server", port: 8643 }]);
  const { home } = first.profile;
  const { config, env } = loadConfig({ processEnv: {}, home });
  assert.equal(config.platforms.api_server.port, 8643);
  assert.equal(env.get("API_SERVER_KEY"), undefined);
  assert.equal(env.get("OPENAI_API_KEY"), "sk-o");
  assert.equal(config.model.default, "m");
  assert.equal(readFileSync(join(home, "SOUL.md"), "utf8"), "I am the source.\n");
  assert.equal(readFileSync(join(home, "memories", "MEMORY.md"), "utf8"), "a fact\n");
  assert.ok(existsSync(join(home, "skills", "x", "y", "SKILL.md")));
  for (const absent of ["state.db", "workspace/draft.txt", "gateway_state.json"])
    assert.equal(existsSync(join(home, absent)), false, absent);
  assert.equal(statSync(join(home, ".env")).mode & 0o777, 0o600);

  const more = { source, all: true, sourceEnv: {} };
  const second = await createProfile(
    { root, name: name("two"), clone: more, skills: false },
    noHook,
  );
  assert.deepEqual(second.ports, [{ platform: "api_server", port: 8644 + 1 }]);
  assert.ok(existsSync(join(second.profile.home, "workspace", "draft.txt")));
  assert.equal(existsSync(join(second.profile.home, "skills", "x")), false);
});

test("a clone of a broken source leaves nothing behind", async (t) => {
  const root = newRoot(t);
  writeFileSync(join(root, "config.yaml"), "{");
  const clone = { source: findProfile(root, "default"), all: false, sourceEnv: {} };
  await assert.rejects(createProfile({ root, name: name("x"), clone }, noHook));
  assert.deepEqual(readdirSync(join(root, "profiles")), []);
});

test("rename: stop, move, register, active profile, alias, start", async (t) => {
  const root = newRoot(t);
  await createProfile({ root, name: name("old") }, noHook);
  useProfile(root, "old");
  const alias = placeIn(t);
  makeAlias(alias, root, "old");
  const services = keeper({ running: true });
  const renamed = await renameProfile({ root, from: "old", to: name("new"), alias }, services);
  assert.deepEqual(services.steps, ["leave old", "renamed old new", "start new"]);
  assert.equal(renamed.hook.ok, true);
  assert.equal(readActiveName(root), "new");
  assert.equal(existsSync(join(root, "profiles", "old")), false);
  assert.deepEqual([hasAlias(alias, "old"), hasAlias(alias, "new")], [false, true]);
});

for (const [fail, steps, left] of [
  ["leave old", ["leave old"], "old"],
  ["renamed old new", ["leave old", "renamed old new", "found old", "start old"], "old"],
  ["start new", ["leave old", "renamed old new", "start new"], "new"],
] as const) {
  test(`rename where "${fail}" fails ends as ${left}`, async (t) => {
    const root = newRoot(t);
    await createProfile({ root, name: name("old") }, noHook);
    const services = keeper({ running: true, fail });
    const work = renameProfile({ root, from: "old", to: name("new"), alias: null }, services);
    if (left === "old") await assert.rejects(work);
    else assert.equal((await work).hook.ok, false);
    assert.deepEqual(services.steps, steps);
    assert.deepEqual(readdirSync(join(root, "profiles")), [left]);
  });
}

test("rename is refused for default, unknown and taken names", async (t) => {
  const root = newRoot(t);
  await createProfile({ root, name: name("a") }, noHook);
  await createProfile({ root, name: name("b") }, noHook);
  const services = keeper();
  const to = (from: string, target: string) =>
    renameProfile({ root, from, to: name(target), alias: null }, services);
  await assert.rejects(to("default", "c"), code("PROFILE_FIXED"));
  await assert.rejects(to("nosuch", "c"), code("PROFILE_NOT_FOUND"));
  await assert.rejects(to("a", "b"), code("PROFILE_EXISTS"));
  assert.deepEqual(services.steps, []);
});

test("a move across file systems copies, and leaves no half tree when that fails", (t) => {
  const folder = tempDir(t);
  mkdirSync(join(folder, "a", "sub"), { recursive: true });
  writeFileSync(join(folder, "a", "sub", "f"), "x");
  chmodSync(join(folder, "a", "sub", "f"), 0o600);
  const crossing = (): never => {
    throw Object.assign(new Error("EXDEV"), { code: "EXDEV" });
  };
  moveTree(join(folder, "a"), join(folder, "b"), crossing);
  assert.deepEqual(readdirSync(folder), ["b"]);
  assert.equal(statSync(join(folder, "b", "sub", "f")).mode & 0o777, 0o600);
  mkdirSync(join(folder, "c", "x"), { recursive: true });
  assert.throws(() => moveTree(join(folder, "b"), join(folder, "c"), crossing));
  assert.deepEqual(readdirSync(folder).sort(), ["b", "c"]);
});

test("delete: verified stop first, then everything", async (t) => {
  const root = newRoot(t);
  await createProfile({ root, name: name("gone") }, noHook);
  useProfile(root, "gone");
  const alias = placeIn(t);
  makeAlias(alias, root, "gone");
  const stuck = keeper({ fail: "leave gone" });
  await assert.rejects(
    removeProfile({ root, name: "gone", alias }, stuck),
    code("PROFILE_NOT_DELETED"),
  );
  assert.ok(existsSync(join(root, "profiles", "gone", "SOUL.md")));
  assert.equal(hasAlias(alias, "gone"), true);
  const services = keeper();
  const { hook } = await removeProfile({ root, name: "gone", alias }, services);
  assert.equal(hook.ok, true);
  assert.deepEqual(services.steps, ["leave gone", "removed gone"]);
  assert.deepEqual(readdirSync(join(root, "profiles")), []);
  assert.equal(readActiveName(root), "default");
  assert.equal(hasAlias(alias, "gone"), false);
  await assert.rejects(
    removeProfile({ root, name: "default", alias }, services),
    code("PROFILE_FIXED"),
  );
});

test("repair asks for all, and one failure is its own", async (t) => {
  const root = newRoot(t);
  await createProfile({ root, name: name("a") }, noHook);
  const services = keeper({ fail: "found a" });
  const all = await repairProfiles(root, undefined, services.hook);
  assert.deepEqual(
    all.map((entry) => [entry.profile.name, entry.hook.ok]),
    [
      ["default", true],
      ["a", false],
    ],
  );
  await assert.rejects(repairProfiles(root, "zz", services.hook), code("PROFILE_NOT_FOUND"));
});

function placeIn(t: TestContext): AliasPlace {
  const folder = tempDir(t);
  return {
    folder: join(folder, "bin"),
    searchPath: `${join(folder, "path")}:${join(folder, "bin")}`,
    command: ["/opt/it's/hermes"],
  };
}

test("aliases: ours only, never over a file or a program", (t) => {
  const place = placeIn(t);
  const path = makeAlias(place, "/data", "work");
  assert.equal(
    readFileSync(path, "utf8"),
    `#!/bin/sh\n# Made by hermes: alias of profile work\nHERMES_HOME='/data' exec '/opt/it'\\''s/hermes' -p work "$@"\n`,
  );
  makeAlias(place, "/data", "work");
  writeFileSync(join(place.folder, "mine"), "#!/bin/sh\n");
  assert.throws(() => makeAlias(place, "/data", "mine"), code("ALIAS_TAKEN"));
  assert.equal(removeAlias(place, "mine"), false);
  const programs = place.searchPath.split(":")[0] ?? "";
  mkdirSync(programs);
  writeFileSync(join(programs, "git"), "", { mode: 0o755 });
  assert.throws(() => makeAlias(place, "/data", "git"), code("ALIAS_TAKEN"));
  assert.equal(removeAlias(place, "work"), true);
});

test("export and import: no secret travels, links neither; ports give way", async (t) => {
  const root = newRoot(t);
  const { profile } = await createProfile(
    { root, name: name("work"), description: "mine" },
    noHook,
  );
  writeFileSync(join(profile.home, "config.yaml"), CONFIG);
  writeFileSync(join(profile.home, ".env"), "OPENAI_API_KEY=sk-env\n");
  writeFileSync(join(profile.home, "state.db"), "history");
  writeFileSync(join(profile.home, "workspace", "draft.txt"), "draft\n");
  symlinkSync("/etc/passwd", join(profile.home, "workspace", "link"));
  const file = join(tempDir(t), "work.tar.gz");
  assert.ok((await exportProfile(profile, file)) > 0);
  await assert.rejects(exportProfile(profile, file), code("EXPORT_EXISTS"));
  const entries: string[] = [];
  await listTar({ file, onReadEntry: (entry) => void entries.push(entry.path) });
  for (const part of [".env", "state.db", "link", "logs", "cache"])
    assert.equal(
      entries.some((path) => path.includes(part)),
      false,
      part,
    );
  const facts = await inspectArchive(file);
  assert.deepEqual(facts, { top: "work", leftOut: [] });
  const made = await importProfile({ root, name: name("copy"), file, facts }, noHook);
  const config = readFileSync(join(made.profile.home, "config.yaml"), "utf8");
  assert.equal(/sk-model|123:abc/.test(config), false);
  assert.deepEqual(made.ports, [{ platform: "api_server", port: 8643 }]);
  assert.equal(readFileSync(join(made.profile.home, "workspace", "draft.txt"), "utf8"), "draft\n");
  await assert.rejects(
    importProfile({ root, name: name("copy"), file, facts }, noHook),
    code("PROFILE_EXISTS"),
  );
});

test("archives of somebody else: what is dangerous is refused as a whole, what is not ours left out", async (t) => {
  const folder = tempDir(t);
  const made = async (
    build: (at: string) => void,
    paths: readonly string[],
    preservePaths = false,
  ): Promise<string> => {
    const at = tempDir(t);
    build(at);
    const file = join(folder, `${Math.random()}.tgz`);
    await createTar({ gzip: true, cwd: at, file, preservePaths }, [...paths]);
    return file;
  };
  const tree = (at: string): void => {
    mkdirSync(join(at, "p", "logs"), { recursive: true });
    writeFileSync(join(at, "p", "SOUL.md"), "soul\n");
    writeFileSync(join(at, "p", ".env"), "KEY=1\n");
    writeFileSync(join(at, "p", "logs", "agent.log"), "log\n");
  };
  assert.deepEqual(await inspectArchive(await made(tree, ["p"])), {
    top: "p",
    leftOut: [".env", "logs"],
  });
  const link = (at: string): void => {
    tree(at);
    symlinkSync("/etc", join(at, "p", "workspace"));
  };
  const two = (at: string): void => {
    tree(at);
    mkdirSync(join(at, "q"));
  };
  const outside = (at: string): void => {
    tree(at);
    writeFileSync(join(at, "p", "x"), "x");
  };
  const table = [
    [await made(link, ["p"]), /SymbolicLink/],
    [await made(two, ["p", "q"]), /more than one directory/],
    [await made(outside, ["p/../p/x"], true), /leads out of it/],
    [await made(tree, [join(folder)], true), /absolute path/],
    [join(folder, "absent.tgz"), /no file/],
  ] as const;
  for (const [file, expected] of table) await assert.rejects(inspectArchive(file), expected);
  // 3 GB of zeros in 3 MB: refused from the header alone.
  const header = Buffer.alloc(512);
  header.write("p/bomb", 0);
  header.write("0000644\0", 100);
  header.write(`${(3 * 1024 ** 3).toString(8).padStart(11, "0")}\0`, 124);
  header.write("0", 156);
  header.write("ustar\0", 257);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const bomb = join(folder, "bomb.tgz");
  writeFileSync(bomb, gzipSync(Buffer.concat([header, Buffer.alloc(1024 * 1024)])));
  await assert.rejects(inspectArchive(bomb), /larger than 1 GB/);
  const junk = join(folder, "junk.tgz");
  writeFileSync(junk, "this is no archive");
  await assert.rejects(inspectArchive(junk), code("IMPORT_REFUSED"));
});
