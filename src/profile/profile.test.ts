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
import { test } from "node:test";
import { HermesError, isHermesError } from "#base/errors.ts";
import { loadConfig } from "#config/load.ts";
import { runAsOther } from "../../test/kit/as-other-user.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { activeProfile, readActiveName, useProfile } from "./active.ts";
import { createProfile } from "./create.ts";
import { findProfile, findProfiles } from "./find.ts";
import { ensureHome, parseMode } from "./home.ts";
import { noHook, type ProfileChange } from "./hook.ts";
import { listProfiles } from "./list.ts";
import { parseProfileName, type ProfileName } from "./name.ts";

const COMMANDS = ["chat", "config", "gateway"];
const name = (text: string): ProfileName => parseProfileName(text, COMMANDS);
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

const NAMES: readonly (readonly [text: string, name: string | null])[] = [
  ["work", "work"],
  ["  Work-2_b ", "work-2_b"],
  ["0", "0"],
  ["a".repeat(64), "a".repeat(64)],
  ["a".repeat(65), null],
  ["", null],
  ["-a", null],
  ["_a", null],
  ["a b", null],
  ["a/b", null],
  ["..", null],
  ["a.b", null],
  ["ü", null],
  ["a\nb", null],
  ["default", null],
  ["Default", null],
  ["hermes", null],
  ["test", null],
  ["tmp", null],
  ["root", null],
  ["sudo", null],
  ["chat", null],
  ["GATEWAY", null],
  ["chats", "chats"],
];

test("names of profiles", () => {
  for (const [text, expected] of NAMES) {
    if (expected !== null) assert.equal(name(text), expected);
    else {
      const isUsage = (error: unknown): boolean =>
        isHermesError(error, "PROFILE_NAME_INVALID") && error.exit === 64;
      assert.throws(() => name(text), isUsage, JSON.stringify(text));
    }
  }
});

test("create: the layout with its modes, and the hook once, after the fact", async (t) => {
  const root = tempDir(t);
  const old = process.umask(0o077);
  t.after(() => process.umask(old));
  const seen: (ProfileChange & { isThere: boolean })[] = [];
  const { profile, hook } = await createProfile(
    { root, name: name("work"), description: " mine " },
    (change) => {
      seen.push({ ...change, isThere: existsSync(join(root, "profiles", "work", "SOUL.md")) });
      return Promise.resolve();
    },
  );
  const home = join(root, "profiles", "work");
  assert.deepEqual(profile, { name: "work", home });
  assert.deepEqual(hook, { ok: true });
  assert.deepEqual(seen, [{ kind: "created", profile, isThere: true }]);
  const modes = Object.fromEntries(
    readdirSync(home).map((entry) => [entry, modeOf(join(home, entry))]),
  );
  assert.deepEqual(modes, {
    ".env": "600",
    "SOUL.md": "640",
    cache: "700",
    "config.yaml": "640",
    cron: "750",
    home: "750",
    logs: "750",
    memories: "750",
    "profile.yaml": "640",
    sessions: "750",
    skills: "750",
    workspace: "750",
  });
  assert.equal(modeOf(home), "750");
  assert.deepEqual(readdirSync(join(root, "profiles")), ["work"]);
  assert.match(readFileSync(join(home, ".env"), "utf8"), /^(#.*\n)+$/);
  const loaded = loadConfig({ home, processEnv: {} });
  assert.deepEqual([loaded.profile, loaded.root, loaded.problems], ["work", root, []]);
});

test("a name that is taken is refused and nothing is left behind", async (t) => {
  const root = tempDir(t);
  await createProfile({ root, name: name("work") }, noHook);
  writeFileSync(join(root, "profiles", "work", "SOUL.md"), "mine");
  await assert.rejects(createProfile({ root, name: name("work") }, noHook), {
    code: "PROFILE_EXISTS",
  });
  assert.equal(readFileSync(join(root, "profiles", "work", "SOUL.md"), "utf8"), "mine");
  assert.deepEqual(readdirSync(join(root, "profiles")), ["work"]);
});

test("a hook that fails leaves the profile and says how to repeat the step", async (t) => {
  const root = tempDir(t);
  const { profile, hook } = await createProfile({ root, name: name("work") }, () =>
    Promise.reject(new Error("no scan directory")),
  );
  assert.equal(hook.ok, false);
  assert.match(hook.ok ? "" : hook.message, /no scan directory.*"hermes profile repair work"/);
  assert.deepEqual(findProfile(root, "work"), profile);
});

test("a home is completed, never overwritten", (t) => {
  const home = join(tempDir(t), "home");
  mkdirSync(join(home, "logs"), { recursive: true });
  chmodSync(join(home, "logs"), 0o711);
  writeFileSync(join(home, "config.yaml"), "mine: 1\n");
  symlinkSync("/nonexistent/elsewhere", join(home, ".env"));
  ensureHome(home);
  ensureHome(home, 0o711);
  assert.equal(readFileSync(join(home, "config.yaml"), "utf8"), "mine: 1\n");
  assert.equal(existsSync("/nonexistent/elsewhere"), false);
  assert.deepEqual([modeOf(join(home, "logs")), modeOf(home)], ["711", "711"]);
  const soul = readFileSync(join(home, "SOUL.md"), "utf8");
  assert.ok(soul.length > 0);
  writeFileSync(join(home, "SOUL.md"), "");
  ensureHome(home);
  assert.equal(readFileSync(join(home, "SOUL.md"), "utf8"), "", "an empty persona is a choice");
  assert.deepEqual(["0750", "750", "0o750", "9", "07777"].map(parseMode), [
    0o750,
    0o750,
    null,
    null,
    null,
  ]);
});

test("a home that cannot be made is refused, naming path, errno and uid", (t) => {
  const root = tempDir(t);
  chmodSync(root, 0o555);
  const module = JSON.stringify(new URL("./home.ts", import.meta.url).href);
  const end = runAsOther(
    `import { ensureHome } from ${module};
     try { ensureHome(process.argv[1]); } catch ({ code, exit, message }) { console.log(code, exit, message); }`,
    [join(root, "home")],
  );
  assert.match(
    end.stdout,
    /^HOME_NOT_WRITABLE 78 .*home cannot be set up: EACCES as uid \d+/,
    end.stderr,
  );
});

test("what is a profile, and what is not and why", async (t) => {
  const root = tempDir(t);
  assert.deepEqual(findProfiles(root), {
    profiles: [{ name: "default", home: root }],
    ignored: [],
  });
  await createProfile({ root, name: name("work") }, noHook);
  await createProfile({ root, name: name("home") }, noHook);
  const folder = join(root, "profiles");
  mkdirSync(join(folder, "empty"));
  mkdirSync(join(folder, "Upper"));
  mkdirSync(join(folder, "default"));
  mkdirSync(join(folder, ".new-abc"));
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(root, "gone"), join(folder, "dangling"));
  const { profiles, ignored } = findProfiles(root);
  assert.deepEqual(
    profiles.map((profile) => profile.name),
    ["default", "home", "work"],
  );
  assert.deepEqual(Object.fromEntries(ignored.map(({ entry, reason }) => [entry, reason])), {
    ".new-abc": "left over from a creation that did not finish",
    Upper: "not a name of a profile",
    dangling: "cannot be read: ENOENT",
    default: "not a name of a profile",
    empty: "has no SOUL.md",
    file: "not a directory",
  });
});

test("an unknown name: 66 with the nearest names, nothing is made; half a profile says why", async (t) => {
  const root = tempDir(t);
  await createProfile({ root, name: name("work") }, noHook);
  mkdirSync(join(root, "profiles", "half"));
  const failure = (text: string): HermesError => {
    try {
      findProfile(root, text);
    } catch (error) {
      assert.ok(error instanceof HermesError);
      return error;
    }
    throw new assert.AssertionError({ message: `${text} was found` });
  };
  const unknown = failure("wrok");
  assert.deepEqual([unknown.code, unknown.exit], ["PROFILE_NOT_FOUND", 66]);
  assert.match(unknown.message, /no profile "wrok"; did you mean work\?/);
  assert.deepEqual(unknown.data["names"], ["default", "work"]);
  assert.match(failure("half").message, /profiles\/half is no profile: has no SOUL\.md/);
  assert.match(failure("../x").message, /no profile/);
  assert.deepEqual(readdirSync(join(root, "profiles")).sort(), ["half", "work"]);
});

test("use: written down, asked anew each time", async (t) => {
  const root = tempDir(t);
  await createProfile({ root, name: name("work") }, noHook);
  assert.equal(activeProfile(root).name, "default");
  assert.equal(useProfile(root, " Work ").name, "work");
  assert.equal(readFileSync(join(root, "active_profile"), "utf8"), "work\n");
  assert.deepEqual(activeProfile(root), { name: "work", home: join(root, "profiles", "work") });
  assert.throws(() => useProfile(root, "other"), { code: "PROFILE_NOT_FOUND" });
  assert.equal(readActiveName(root), "work");
  writeFileSync(join(root, "active_profile"), "gone\n");
  assert.throws(() => activeProfile(root), { code: "PROFILE_NOT_FOUND" });
  useProfile(root, "default");
  assert.equal(activeProfile(root).home, root);
});

test("the list: one line each, a broken one hides nobody", async (t) => {
  const root = tempDir(t);
  const { profile } = await createProfile(
    { root, name: name("work"), description: "Does: work" },
    noHook,
  );
  await createProfile({ root, name: name("broken") }, noHook);
  writeFileSync(join(profile.home, "config.yaml"), "model: {provider: openai, default: gpt-x}\n");
  writeFileSync(join(root, "profiles", "broken", "config.yaml"), "{");
  writeFileSync(join(root, "profiles", "broken", "profile.yaml"), "- a");
  mkdirSync(join(profile.home, "skills", "dev", "review"), { recursive: true });
  writeFileSync(join(profile.home, "skills", "dev", "review", "SKILL.md"), "");
  useProfile(root, "work");
  const list = listProfiles(root);
  assert.deepEqual(
    list.profiles.map(({ name, model, isActive, hasEnv, hasSoul }) => ({
      name,
      model,
      isActive,
      hasEnv,
      hasSoul,
    })),
    [
      {
        name: "default",
        model: { provider: "auto", id: "" },
        isActive: false,
        hasEnv: false,
        hasSoul: false,
      },
      { name: "broken", model: null, isActive: false, hasEnv: true, hasSoul: true },
      {
        name: "work",
        model: { provider: "openai", id: "gpt-x" },
        isActive: true,
        hasEnv: true,
        hasSoul: true,
      },
    ],
  );
  const work = list.profiles[2];
  assert.deepEqual(
    [work?.description, work?.skillCount, work?.isDefault],
    ["Does: work", 1, false],
  );
  assert.equal(list.unknownActive, null);
  writeFileSync(join(root, "active_profile"), "gone");
  assert.equal(listProfiles(root).unknownActive, "gone");
});
