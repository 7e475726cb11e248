// Builds dist/ (product.md D22): the server as a split bundle, the Ink interface, what the launcher prints, the
// configuration's defaults and form as JSON, and the browser app. `npm ci` runs it through `prepare`. Usage: node scripts/build.ts [--out DIR] [--no-web]
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { build as Build, BuildOptions, Plugin } from "esbuild";
import { BANNER, writePacks } from "./packs.ts";
import { pinnedNode, ROOT, run } from "./run.ts";

const { values: options } = parseArgs({
  options: { out: { type: "string" }, "no-web": { type: "boolean" }, clean: { type: "boolean" } },
});
const out = resolve(options.out ?? join(ROOT, "dist"));

const SHARED: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  sourcemap: false,
  // CommonJS dependencies call require for Node's own modules.
  banner: { js: BANNER },
  logLevel: "warning",
};

process.exitCode = isPinned() ? await build() : again();

/** The bundle is made by the Node that runs it, whichever one started this script. */
function isPinned(): boolean {
  const pinned = pinnedNode();
  if (pinned === process.execPath) return true;
  const { stdout } = spawnSync(pinned, ["--version"], { encoding: "utf8" });
  return stdout.trim() === process.version;
}

function again(): number {
  return run(pinnedNode(), process.argv.slice(1));
}

async function build(): Promise<number> {
  const started = performance.now();
  await bundleServer();
  await writeTables();
  const web = options["no-web"] === true ? "left out" : buildWeb();
  console.log(`built ${out} (${Math.round(performance.now() - started)} ms; browser app: ${web})`);
  return 0;
}

/** Into a fresh folder that takes the old one's place: a running hermes finds the chunks of one build, never a mix. */
async function bundleServer(): Promise<void> {
  const { build: esbuild, transform } = await import("esbuild");
  const fresh = `${out}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const { metafile } = await esbuild({
    ...SHARED,
    metafile: true,
    entryPoints: {
      main: "src/cli/main.ts",
      "terminal-keeper": "src/cli/terminal/keeper-main.ts",
    },
    // Native: it stays a package.
    external: ["@lydell/node-pty"],
    outdir: fresh,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    plugins: [ownZodMini()],
  });
  await writePacks({ build: esbuild, transform }, fresh, metafile);
  if (existsSync(join(ROOT, "src", "tui", "start.tsx"))) await bundleTui(esbuild, fresh);
  if (existsSync(join(out, "web"))) renameSync(join(out, "web"), join(fresh, "web"));
  rmSync(out, { recursive: true, force: true });
  renameSync(fresh, out);
}

/**
 * The Ink interface, a bundle of its own (agent.md §10): React in its production form, and without the developer tools that
 * Ink names but nobody has.
 */
async function bundleTui(esbuild: typeof Build, fresh: string): Promise<void> {
  await esbuild({
    ...SHARED,
    entryPoints: { tui: "src/tui/start.tsx" },
    outdir: fresh,
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [noDevtools()],
  });
}

function noDevtools(): Plugin {
  return {
    name: "no-devtools",
    setup(bundler) {
      const namespace = "no-devtools";
      bundler.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace }));
      bundler.onLoad({ filter: /.*/, namespace }, () => ({ contents: "export default {};" }));
    },
  };
}

/**
 * zod/mini as modules of their own. esbuild keeps one copy of a file for all chunks, with everything that anyone uses of it:
 * the core that the model SDK needs would be read by every command.
 */
function ownZodMini(): Plugin {
  return {
    name: "own-zod-mini",
    setup(bundler) {
      const namespace = "zod-mini";
      const own = (path: string) => ({ path, namespace, sideEffects: false });
      bundler.onResolve({ filter: /^zod\/mini$/ }, () =>
        own(fileURLToPath(import.meta.resolve("zod/mini"))),
      );
      bundler.onResolve({ filter: /^\./, namespace }, ({ path, resolveDir }) =>
        own(join(resolveDir, path)),
      );
      bundler.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: readFileSync(path, "utf8"),
        resolveDir: dirname(path),
        loader: "js",
      }));
    },
  };
}

async function writeTables(): Promise<void> {
  const { readVersion } = await import("#cli/version.ts");
  const { helpTable } = await import("#cli/help-text.ts");
  writeJson("version.json", readVersion(ROOT));
  writeJson("help.json", helpTable());
  const { configDefaults } = await import("#config/defaults.ts");
  const { configFormSchema } = await import("#config/schema.ts");
  writeJson("config-defaults.json", configDefaults());
  writeJson("config-schema.json", configFormSchema());
}

function writeJson(name: string, value: unknown): void {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, name), JSON.stringify(value));
}

/** Whatever is wrong here must not fail `npm ci`: the dashboard says what is missing, everything else works. */
function buildWeb(): string {
  if (!existsSync(join(ROOT, "web", "index.html"))) return "no sources";
  const vite = join(ROOT, "node_modules", "vite", "bin", "vite.js");
  if (!existsSync(vite)) return "not built: vite is not installed";
  const args = [
    vite,
    "build",
    "--logLevel",
    "error",
    "--outDir",
    join(out, "web"),
    "--emptyOutDir",
    // Two builds at a time do not meet, each has its own folder; the browser app would be missing in one of them.
    "--bypass-lock",
  ];
  const code = run(pinnedNode(), args, join(ROOT, "web"));
  return code === 0 ? "built" : "FAILED (pages will answer 503; run npm run build to see why)";
}
