// `npm run image:payload [-- --out DIR]`: the install tree of the image, as a folder (container.md §1.1). Built from the lock file
// only; sorted, fixed times, no caches: two runs of one commit give the same digest. Default: .payload/ in the build context.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { pinnedNode, ROOT, run } from "./run.ts";

const { values: options } = parseArgs({ options: { out: { type: "string" } } });
const out = resolve(options.out ?? join(ROOT, ".payload"));
const tree = join(out, "opt", "hermes");
const epoch = Number(process.env["SOURCE_DATE_EPOCH"] ?? "0");

rmSync(out, { recursive: true, force: true });
mkdirSync(join(tree, "share"), { recursive: true });
buildBundle();
copyPrograms();
normalise(out);
const digest = digestOf(tree);
write("share/payload.sha256", `${digest}\n`);
normalise(out);
console.log(`payload ${digest} in ${out}`);

function buildBundle(): void {
  const code = run(pinnedNode(), [join(ROOT, "scripts", "build.ts"), "--out", join(tree, "dist")]);
  if (code !== 0) process.exit(code);
  // The build itself goes on without its pages; an image without them is none.
  if (!existsSync(join(tree, "dist", "web", "index.html"))) {
    console.error("The browser app was not built; the lines above say why.");
    process.exit(1);
  }
}

function copyPrograms(): void {
  const node = realpathSync(pinnedNode());
  mkdirSync(join(tree, "bin"));
  cpSync(node, join(tree, "bin", "node"));
  cpSync(join(ROOT, "bin", "hermes.mjs"), join(tree, "bin", "hermes.mjs"));
  cpSync(join(ROOT, "node_modules", "npm"), join(tree, "lib", "npm"), {
    // Links stay relative: an absolute one would name this machine.
    verbatimSymlinks: true,
    recursive: true,
    filter: isProgram,
  });
  for (const name of ["npm", "npx"]) {
    symlinkSync(`../lib/npm/bin/${name}-cli.js`, join(tree, "bin", name));
  }
  for (const name of ["LICENSE", "package.json"]) cpSync(join(ROOT, name), join(tree, name));
  cpSync(join(ROOT, "docker", "warm-up"), join(tree, "share", "warm-up"));
  write("share/node-version", spawnSync(node, ["--version"], { encoding: "utf8" }).stdout);
}

/** Manuals of npm serve nobody in a container. */
function isProgram(path: string): boolean {
  return !/\/npm\/(?:docs|man)(?:\/|$)/u.test(path);
}

function write(path: string, text: string): void {
  writeFileSync(join(tree, path), text);
}

/** Modes and times say nothing about the machine that built it. */
function normalise(path: string): void {
  const found = lstatSync(path);
  if (found.isDirectory()) {
    for (const name of readdirSync(path)) normalise(join(path, name));
    chmodSync(path, 0o755);
  } else if (found.isFile()) {
    chmodSync(path, (found.mode & 0o111) === 0 ? 0o644 : 0o755);
  }
  lutimesSync(path, epoch, epoch);
}

/** SHA-256 over path, mode and bytes of every entry, sorted by path. */
function digestOf(root: string): string {
  const hash = createHash("sha256");
  for (const path of entriesOf(root).sort()) {
    const found = lstatSync(path);
    hash.update(`${relative(root, path)}\0${(found.mode & 0o777).toString(8)}\0`);
    if (found.isFile()) hash.update(readFileSync(path));
    else if (found.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest("hex");
}

function entriesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...entriesOf(path)] : [path];
  });
}
