import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { type AccountFiles, joinGroups, readAccount, writeAccount } from "./accounts.ts";

const PASSWD = [
  "root:x:0:0:root:/root:/bin/bash",
  "hermes2:x:10000:10000::/home/other:/bin/sh",
  "hermes:x:10000:10000:Hermes, agent:/opt/data:/bin/bash",
  "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin",
  "",
].join("\n");
const GROUP = ["root:x:0:", "users:x:100:", "hermes:x:10000:", "dialout:x:20:someone", ""].join(
  "\n",
);

function files(t: TestContext): AccountFiles {
  const dir = tempDir(t);
  const paths = { passwd: join(dir, "passwd"), group: join(dir, "group") };
  writeFileSync(paths.passwd, PASSWD);
  writeFileSync(paths.group, GROUP);
  return paths;
}

test("the line of hermes alone gets the new numbers", (t) => {
  const paths = files(t);
  writeAccount(paths, { uid: 501, gid: 502 });
  assert.deepEqual(readAccount(paths), { uid: 501, gid: 502 });
  assert.equal(
    readFileSync(paths.passwd, "utf8"),
    PASSWD.replace("hermes:x:10000:10000:Hermes, agent", "hermes:x:501:502:Hermes, agent"),
  );
  assert.equal(readFileSync(paths.group, "utf8"), GROUP.replace("hermes:x:10000", "hermes:x:502"));
});

test("a gid that another group has is shared, not stolen", (t) => {
  const paths = files(t);
  writeAccount(paths, { uid: 99, gid: 100 });
  assert.deepEqual(readAccount(paths), { uid: 99, gid: 100 });
  assert.equal(readFileSync(paths.group, "utf8"), GROUP);
});

test("the same numbers again write nothing", (t) => {
  const paths = files(t);
  writeAccount(paths, { uid: 501, gid: 502 });
  const before = [paths.passwd, paths.group].map((path) => statSync(path).ino);
  writeAccount(paths, { uid: 501, gid: 502 });
  assert.deepEqual(
    [paths.passwd, paths.group].map((path) => statSync(path).ino),
    before,
  );
});

test("a passwd without the user is an error that names the file", (t) => {
  const paths = files(t);
  writeFileSync(paths.passwd, "root:x:0:0:root:/root:/bin/bash\nhermes2:x:1:1::/:/bin/sh\n");
  assert.throws(() => readAccount(paths), /passwd has no user hermes/);
});

test("groups of the operator take hermes in; one without a name gets one; again changes nothing", (t) => {
  const paths = files(t);
  assert.deepEqual(joinGroups(paths, [20, 100, 998]), [
    "dialout (20)",
    "users (100)",
    "hostgrp998 (998)",
  ]);
  const expected = [
    "root:x:0:",
    "users:x:100:hermes",
    "hermes:x:10000:",
    "dialout:x:20:someone,hermes",
    "hostgrp998:x:998:hermes",
    "",
  ].join("\n");
  assert.equal(readFileSync(paths.group, "utf8"), expected);
  joinGroups(paths, [20, 100, 998]);
  assert.equal(readFileSync(paths.group, "utf8"), expected);
});
