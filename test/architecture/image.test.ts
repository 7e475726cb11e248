// What the image is built from (container.md §1.1, §14 rows 27 and 28): files that a build on another machine would trip over,
// and rules that the container tests themselves keep. Reads files only.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { validate } from "dockerfile-utils";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const dockerfile = read("Dockerfile");
const instructions = dockerfile
  .replaceAll(/^\s*#.*\n/gmu, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line !== "");
const imageFiles = globSync("docker/**/*", { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
const scripts = imageFiles.filter((path) => !path.endsWith(".md"));

test("the image's files: UTF-8, no byte order mark, no carriage return, a last newline", () => {
  for (const path of ["Dockerfile", ".dockerignore", ".gitattributes", ...imageFiles]) {
    const bytes = readFileSync(join(ROOT, path));
    assert.doesNotThrow(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes), path);
    assert.notDeepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], `${path}: BOM`);
    assert.equal(bytes.includes(0x0d), false, `${path}: CR`);
    assert.equal(bytes.at(-1), 0x0a, `${path}: last newline`);
  }
});

test("git keeps LF in all of them", () => {
  const attributes = read(".gitattributes");
  for (const path of ["Dockerfile", "docker/**"])
    assert.ok(attributes.includes(`${path} text eol=lf\n`), path);
});

test("scripts of the boot stay short: policy is TypeScript", () => {
  assert.ok(scripts.length > 12);
  for (const path of scripts) {
    const lines = read(path).trimEnd().split("\n");
    assert.ok(lines.length <= 30, `${path} has ${lines.length} lines`);
    if (!path.includes("profile.d")) assert.equal(lines[0], "#!/bin/sh", path);
  }
});

test("the shim of hermes: at most five lines, by absolute paths", () => {
  const shim = read("docker/rootfs/opt/hermes/bin/hermes");
  assert.ok(shim.trimEnd().split("\n").length <= 5);
  assert.match(shim, /^exec \/opt\/hermes\/bin\/node \/opt\/hermes\/\S+ "\$@"$/mu);
});

test("a Dockerfile linter finds nothing", () => {
  assert.deepEqual(
    validate(dockerfile).map(({ message }) => message),
    [],
  );
  assert.notDeepEqual(validate("FORM x\n"), [], "the linter looks");
});

const CLASSIC: readonly (readonly [RegExp, string])[] = [
  [/\s--mount=/u, "RUN --mount"],
  [/^(?:COPY|ADD)\s.*--chmod/u, "COPY --chmod"],
  [/<<-?["']?\w/u, "a here-document"],
  [/--start-interval/u, "HEALTHCHECK --start-interval"],
  [/TARGETARCH|TARGETPLATFORM|BUILDPLATFORM/u, "variables of BuildKit"],
  [/^EXPOSE/u, "EXPOSE"],
  [/^USER/u, "USER"],
];

test("the classic builder can build it, and docker run -P publishes nothing", () => {
  for (const line of instructions)
    for (const [pattern, what] of CLASSIC) assert.doesNotMatch(line, pattern, what);
  assert.doesNotMatch(dockerfile, /^#\s*syntax=/mu);
});

test("one base, pulled or made: every stage starts from it", () => {
  assert.equal(instructions[0], "ARG BASE_IMAGE=debian:trixie-slim");
  const stages = instructions.filter((line) => line.startsWith("FROM "));
  assert.equal(stages.length, 2);
  for (const stage of stages) assert.match(stage, /^FROM \$\{BASE_IMAGE\}/u);
});

test("the packages of the image are those of the contract", () => {
  const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));
  const installs = last.flatMap(
    (line) =>
      /apt-get install -y --no-install-recommends(?<names>[^&]*)&&/u.exec(line)?.groups?.[
        "names"
      ] ?? [],
  );
  assert.equal(installs.length, 1);
  assert.deepEqual(
    installs[0]?.trim().split(/\s+/u).sort(),
    [
      "${EXTRA_APT}",
      ..."s6 execline git ripgrep ca-certificates procps curl openssh-client tzdata less jq unzip xz-utils libstdc++6 libatomic1".split(
        " ",
      ),
    ].sort(),
  );
  for (const name of ["nodejs", "gosu", "sudo", "python"])
    assert.doesNotMatch(last.join("\n"), new RegExp(`\\b${name}`, "u"));
});

const META: readonly (readonly [name: string, line: RegExp])[] = [
  ["ENTRYPOINT", /^ENTRYPOINT \["\/init"\]$/u],
  ["CMD", /^CMD \[\]$/u],
  ["WORKDIR", /^WORKDIR \/opt\/data$/u],
  ["VOLUME", /^VOLUME \/opt\/data$/u],
  ["STOPSIGNAL", /^STOPSIGNAL SIGTERM$/u],
  [
    "HEALTHCHECK",
    /^HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3\s+CMD \["\/opt\/hermes\/bin\/hermes", ?"probe", ?"--self"\]$/u,
  ],
];

for (const [name, line] of META) {
  test(`the image's ${name} is the contract's`, () => {
    assert.ok(instructions.some((instruction) => line.test(instruction)));
  });
}

test("no secret and no switch of the dashboard is baked in", () => {
  const env = instructions.filter((line) => line.startsWith("ENV ")).join(" ");
  const names = [...env.matchAll(/(?<name>[A-Z_]+)=/gu)].map(({ groups }) => groups?.["name"]);
  assert.deepEqual(names.sort(), [
    "HERMES_HOME",
    "HERMES_WRITE_SAFE_ROOT",
    "LANG",
    "NODE_ENV",
    "PATH",
  ]);
});

test("the lock file pins one Node for both architectures", () => {
  const lock = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { version: string; cpu?: string | readonly string[] }>;
  };
  const pins = ["x64", "arm64"].map((cpu) => lock.packages[`node_modules/node-linux-${cpu}`]);
  assert.deepEqual(
    pins.map((pin) => [pin?.cpu].flat().join()),
    ["x64", "arm64"],
  );
  assert.equal(pins[0]?.version, pins[1]?.version);
});

test("nothing derives the opt-out of the gate from the host", () => {
  for (const path of globSync("src/{cli/dashboard,supervisor,container,dashboard}/**/*.ts", {
    cwd: ROOT,
  })) {
    if (path.endsWith(".test.ts")) continue;
    for (const line of read(path).split("\n"))
      assert.doesNotMatch(line, /host[^=;,]*(?:\?|&&|\|\|)[^;]*insecure/iu, `${path}: ${line}`);
  }
  for (const path of scripts) assert.doesNotMatch(read(path), /insecure/iu, path);
});

test("container tests wait by condition, and name root with a reason", () => {
  const files = globSync("test/docker/*.ts", { cwd: ROOT });
  assert.ok(files.length > 0);
  for (const path of files) {
    const lines = read(path).split("\n");
    for (const [index, line] of lines.entries()) {
      assert.doesNotMatch(
        line,
        /setTimeout|timers\/promises|Atomics\.wait/u,
        `${path}:${index + 1}`,
      );
      assert.doesNotMatch(line, /docker\(\s*\["exec"/u, `${path}:${index + 1}: use dockerExec`);
      if (!/user: "root"|"(?:-u|--user)", "(?:root|0)"/u.test(line)) continue;
      const around = lines.slice(Math.max(0, index - 4), index + 1).join("\n");
      assert.match(around, /\/\/.*root/iu, `${path}:${index + 1}: say why it is root`);
    }
  }
});
