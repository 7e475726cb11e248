// `npm run image [-- --tag NAME]`: payload, base and `docker build` with the classic builder (container.md §13.2). A machine without
// a registry of images makes its own base with mmdebstrap; it is kept in .image-cache/, by release and architecture.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pinnedNode, ROOT, run } from "./run.ts";

const RELEASE = "trixie";
const REGISTRY_BASE = `debian:${RELEASE}-slim`;
const OWN_BASE = `hermes-base:${RELEASE}`;
const PULL_LIMIT_MS = 60_000;

const { values: options } = parseArgs({ options: { tag: { type: "string" } } });
const tag = options.tag ?? "hermes";

process.exitCode = build();

function build(): number {
  const payload = run(pinnedNode(), [join(ROOT, "scripts", "image-payload.ts")]);
  if (payload !== 0) return payload;
  const base = process.env["BASE_IMAGE"] ?? findBase();
  if (base === null) return 1;
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const revision = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  return run("docker", [
    "build",
    "--quiet",
    "--network=host",
    "--tag",
    tag,
    `--build-arg=BASE_IMAGE=${base}`,
    `--build-arg=HERMES_VERSION=${version}`,
    `--build-arg=HERMES_GIT_SHA=${revision.status === 0 ? revision.stdout.trim() : ""}`,
    `--build-arg=HERMES_CREATED=${new Date().toISOString()}`,
    ".",
  ]);
}

/** What is there, else from the registry, else made here. null after saying what is missing. */
function findBase(): string | null {
  for (const image of [REGISTRY_BASE, OWN_BASE]) if (isThere(image)) return image;
  const pulled = spawnSync("docker", ["pull", "--quiet", REGISTRY_BASE], {
    timeout: PULL_LIMIT_MS,
    stdio: "ignore",
  });
  if (pulled.status === 0) return REGISTRY_BASE;
  return makeBase() ? OWN_BASE : null;
}

function isThere(image: string): boolean {
  return spawnSync("docker", ["image", "inspect", image], { stdio: "ignore" }).status === 0;
}

function makeBase(): boolean {
  const folder = join(ROOT, ".image-cache");
  const file = join(folder, `${RELEASE}-${process.arch}.tar`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const fresh = `${file}.new`;
    // The format is said: by the name alone, a file that does not end in .tar becomes a folder.
    const options = ["--quiet", "--variant=minbase", "--format=tar"];
    const made = run("mmdebstrap", [...options, RELEASE, fresh]);
    if (made !== 0) {
      console.error(`No base image: pull ${REGISTRY_BASE}, set BASE_IMAGE, or install mmdebstrap.`);
      return false;
    }
    renameSync(fresh, file);
  }
  return run("docker", ["import", file, OWN_BASE]) === 0;
}
