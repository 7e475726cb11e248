// Root's walk over a volume (container.md §3.1). Only root can give files away, so only root runs these.
import assert from "node:assert/strict";
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { otherUid, runAsOther } from "../../test/kit/as-other-user.ts";
import { OWNER_MARKER, repairOwner } from "./owner.ts";

const options = process.getuid?.() === 0 ? {} : { skip: "needs root" };
const US = { uid: 4242, gid: 4343 };

interface Tree {
  readonly home: string;
  add(path: string, owner?: typeof US): string;
  owner(path: string): string;
}

function tree(t: TestContext): Tree {
  const home = join(tempDir(t), "home");
  mkdirSync(home);
  const at = (path: string): string => join(home, path);
  return {
    home,
    add(path, owner) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), "x");
      if (owner) chownSync(at(path), owner.uid, owner.gid);
      return at(path);
    },
    owner(path) {
      const { uid, gid } = lstatSync(at(path));
      return `${uid}:${gid}`;
    },
  };
}

test("files and folders of ours are given to the user, others never", options, (t) => {
  const { home, add, owner } = tree(t);
  const own = [
    "auth.json",
    "state.db",
    ".env",
    "logs/agent.log",
    "skills/a/b/SKILL.md",
    "profiles/coder/SOUL.md",
    "profiles/coder/cache/x/y",
  ];
  const foreign = ["host_secret.json", "projects/a", "profiles/coder/host_secret.json"];
  for (const path of [...own, ...foreign]) add(path);
  const { changed, refused, warnings } = repairOwner(home, US);
  for (const path of [".", ...own, "logs", "skills/a/b", "profiles", "profiles/coder"])
    assert.equal(owner(path), "4242:4343", path);
  for (const path of [...foreign, "projects"]) assert.equal(owner(path), "0:0", path);
  assert.equal(refused, 0);
  assert.deepEqual(warnings, []);
  assert.ok(changed > own.length);
  assert.equal(readFileSync(join(home, OWNER_MARKER), "utf8"), "4242:4343\n");
  assert.equal(owner(OWNER_MARKER), "4242:4343");
});

test("a second boot changes no ctime, the marker's neither", options, (t) => {
  const { home, add } = tree(t);
  for (const path of ["auth.json", "skills/a/b/c", "profiles/p/memories/m"]) add(path);
  repairOwner(home, US);
  const watched = [".", OWNER_MARKER, "auth.json", "skills", "skills/a/b/c", "profiles/p"];
  const ctimes = (): readonly bigint[] =>
    watched.map((path) => lstatSync(join(home, path), { bigint: true }).ctimeNs);
  const before = ctimes();
  assert.equal(repairOwner(home, US).changed, 0);
  assert.deepEqual(ctimes(), before);
});

test("with the marker a wrong file deep down is left to repair-owner", options, (t) => {
  const { home, add, owner } = tree(t);
  add("skills/a/b/c");
  repairOwner(home, US);
  chownSync(join(home, "skills/a/b/c"), 0, 0);
  repairOwner(home, US);
  assert.equal(owner("skills/a/b/c"), "0:0");
  assert.equal(repairOwner(home, US, true).changed, 1);
  assert.equal(owner("skills/a/b/c"), "4242:4343");
});

test("a wrong direct child makes its folder be walked to the end", options, (t) => {
  const { home, add, owner } = tree(t);
  add("skills/a/b/c");
  add("cron/a/b/c");
  repairOwner(home, US);
  for (const path of ["skills/a", "skills/a/b/c", "cron/a/b/c"]) chownSync(join(home, path), 0, 0);
  repairOwner(home, US);
  assert.equal(owner("skills/a/b/c"), "4242:4343");
  assert.equal(owner("cron/a/b/c"), "0:0");
});

test("another user makes everything be walked again", options, (t) => {
  const { home, add, owner } = tree(t);
  add("skills/a/b/c");
  repairOwner(home, US);
  repairOwner(home, { uid: 99, gid: 100 });
  assert.equal(owner("skills/a/b/c"), "99:100");
  assert.equal(readFileSync(join(home, OWNER_MARKER), "utf8"), "99:100\n");
});

test("links are changed themselves and lead nowhere", options, (t) => {
  const { home, add, owner } = tree(t);
  const outside = tempDir(t);
  writeFileSync(join(outside, "victim"), "");
  mkdirSync(join(outside, "folder"));
  writeFileSync(join(outside, "folder", "victim"), "");
  add("workspace/x");
  symlinkSync(join(outside, "victim"), join(home, "auth.json"));
  symlinkSync(join(outside, "folder"), join(home, "skills"));
  symlinkSync(join(outside, "folder"), join(home, "workspace", "deep"));
  symlinkSync(join(outside, "victim"), join(home, OWNER_MARKER));
  mkdirSync(join(home, "profiles"));
  symlinkSync(join(outside, "folder"), join(home, "profiles", "linked"));
  const { warnings } = repairOwner(home, US);
  for (const path of ["victim", "folder", "folder/victim"])
    assert.equal(lstatSync(join(outside, path)).uid, 0, path);
  assert.equal(readFileSync(join(outside, "victim"), "utf8"), "");
  assert.equal(owner("auth.json"), "4242:4343");
  assert.equal(owner("workspace/deep"), "4242:4343");
  assert.ok(lstatSync(join(home, OWNER_MARKER)).isFile());
  assert.deepEqual(
    [...warnings].sort(),
    [join(home, "profiles", "linked"), join(home, "skills")].map(
      (path) => `refusing to follow the link ${path}`,
    ),
  );
});

test(
  "a file with several names keeps its owner; many cost few lines, and the repair still counts as done",
  options,
  (t) => {
    const { home, add } = tree(t);
    const outside = tempDir(t);
    for (let index = 0; index < 12; index++) {
      writeFileSync(join(outside, `shadow${index}`), "");
      add("workspace/x");
      linkSync(join(outside, `shadow${index}`), join(home, "workspace", `link${index}`));
    }
    const { warnings } = repairOwner(home, US);
    for (let index = 0; index < 12; index++)
      assert.equal(lstatSync(join(outside, `shadow${index}`)).uid, 0);
    assert.equal(warnings.length, 6);
    assert.match(warnings[0] ?? "", /^refusing to change the owner of .*link\d+: it has 2 names$/);
    assert.match(warnings[5] ?? "", /^7 more files with several names/);
    assert.equal(readFileSync(join(home, OWNER_MARKER), "utf8"), "4242:4343\n");
  },
);

test("names of any bytes are reached", options, (t) => {
  const { home, add } = tree(t);
  add("workspace/x");
  const path = Buffer.from(`${home}/workspace/\xff\xfe`, "latin1");
  writeFileSync(path, "");
  repairOwner(home, US);
  assert.equal(lstatSync(path).uid, 4242);
});

test("a tree without end is left at a depth, with one line", options, (t) => {
  const { home } = tree(t);
  mkdirSync(join(home, "workspace", ...Array.from({ length: 80 }, () => "d")), { recursive: true });
  const { warnings } = repairOwner(home, US);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /^refusing to go deeper than 64 folders/);
});

test("who may not change owners says so once, with a count, and leaves no marker", options, (t) => {
  const { home, add } = tree(t);
  for (const path of ["auth.json", "state.db", "skills/a/b"]) add(path);
  chownSync(home, Number(otherUid), Number(otherUid));
  chownSync(dirname(home), Number(otherUid), Number(otherUid));
  const owner = new URL("owner.ts", import.meta.url).href;
  const { stdout, stderr } = runAsOther(
    `const { repairOwner } = await import(${JSON.stringify(owner)});
     console.log(JSON.stringify(repairOwner(process.argv[1], { uid: 4242, gid: 4343 })));`,
    [home],
  );
  assert.equal(stderr, "");
  const { changed, refused, warnings } = JSON.parse(stdout) as ReturnType<typeof repairOwner>;
  assert.equal(changed, 0);
  assert.equal(refused, 6);
  assert.deepEqual(warnings, [
    `the owner of 6 entries below ${home} could not be made 4242:4343; going on`,
  ]);
  assert.throws(() => lstatSync(join(home, OWNER_MARKER)), { code: "ENOENT" });
});

test("a home that is not there is one warning", options, (t) => {
  const { warnings, refused } = repairOwner(join(tempDir(t), "none"), US);
  assert.equal(refused, 1);
  assert.match(warnings.join(), /none cannot be looked at by root: ENOENT/);
});
