// Packs: for a command whose start is waited for, everything that its start loads as one CommonJS file, and the other chunks
// beside it. One file of 1 MB is read in a tenth of the time that Node's loader of ES modules takes for a hundred.
import type { build as Build, Metafile, Plugin, transform as Transform } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

interface Esbuild {
  readonly build: typeof Build;
  readonly transform: typeof Transform;
}

type Outputs = Metafile["outputs"];

const MAIN = "src/cli/main.ts";

/** What each start loads on demand, besides `main`: dynamic imports of these files, and what they import. */
const EVERY = ["node_modules/commander/index.js", "src/store/process-lock.ts"];
const SERVICE = [
  ...EVERY,
  "node_modules/rotating-file-stream/dist/esm/index.js",
  "src/cli/commands/slot-run.ts",
  "src/cli/pino.ts",
  "src/profile/home.ts",
];
const PACKS: Readonly<Record<string, readonly string[]>> = {
  dashboard: [
    ...SERVICE,
    "src/auth/providers/collect.ts",
    "src/auth/providers/registry.ts",
    "src/auth/providers/settings.ts",
    "src/cli/commands/dashboard.ts",
    "src/cli/dashboard/running.ts",
    "src/cli/dashboard/serve.ts",
    "src/cli/dashboard/slot.ts",
  ],
  gateway: [
    ...SERVICE,
    "src/cli/commands/gateway.ts",
    "src/cli/gateway/hand-over.ts",
    "src/cli/gateway/run.ts",
    "src/store/open.ts",
    "src/supervisor/open.ts",
    "src/supervisor/services.ts",
  ],
  probe: [
    ...EVERY,
    "src/cli/commands/probe.ts",
    "src/cli/probe/self.ts",
    "src/supervisor/open.ts",
    "src/supervisor/services.ts",
  ],
  status: [
    ...EVERY,
    "src/base/clock.ts",
    "src/cli/commands/status.ts",
    "src/cli/model-access.ts",
    "src/model/info.ts",
    "src/profile/active.ts",
    "src/profile/find.ts",
    "src/supervisor/open.ts",
    "src/supervisor/services.ts",
  ],
  setup: [...EVERY, "src/cli/commands/container.ts", "src/cli/container/prepare.ts"],
};

const COMMON_JS = {
  format: "cjs",
  define: { "import.meta.filename": "__filename", "import.meta.dirname": "__dirname" },
} as const;

/** Writes `DIR/packs/NAME.cjs` and the chunks as functions of their own, from the split bundle in `dir`. */
export async function writePacks(esbuild: Esbuild, dir: string, meta: Metafile): Promise<void> {
  const outputs = chunksOf(meta);
  const packs = join(dir, "packs");
  mkdirSync(packs);
  for (const [name, entries] of Object.entries(PACKS)) {
    const hot = closure(outputs, [MAIN, ...entries]);
    writeFileSync(join(packs, `${name}.cjs`), await bundle(esbuild, dir, outputs, hot));
  }
  const all = Object.keys(outputs).filter((name) => name !== basename(entryOf(outputs, MAIN)));
  await Promise.all(
    all.map(async (name) => {
      const { code } = await esbuild.transform(chunkText(dir, name, new Set(all)), {
        ...COMMON_JS,
        target: "node24",
        minifySyntax: true,
        minifyWhitespace: true,
      });
      const body = `module.exports=(module,exports,require,__lazy)=>{"use strict";${code}};\n`;
      writeFileSync(join(packs, cjs(name)), ascii(body));
    }),
  );
}

/** By file name, without the entry of another program. */
function chunksOf({ outputs }: Metafile): Outputs {
  const named = Object.entries(outputs).map(([path, output]) => [basename(path), output] as const);
  return Object.fromEntries(named.filter(([name]) => name !== "terminal-keeper.js"));
}

function entryOf(outputs: Outputs, source: string): string {
  const found = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === source);
  if (found === undefined) throw new Error(`${source} is imported by nobody on demand`);
  return found;
}

/** The chunks that importing `sources` loads. */
function closure(outputs: Outputs, sources: readonly string[]): ReadonlySet<string> {
  const found = new Set(sources.map((source) => entryOf(outputs, source)));
  for (const name of found) {
    for (const { path, kind } of outputs[name]?.imports ?? []) {
      if (kind === "import-statement" && basename(path) in outputs) found.add(basename(path));
    }
  }
  return found;
}

/** The chunks `hot` in one scope; the others are found by name, and find these. */
async function bundle(
  { build }: Esbuild,
  dir: string,
  outputs: Outputs,
  hot: ReadonlySet<string>,
): Promise<string> {
  const names = [...hot];
  const cold = new Set(Object.keys(outputs).filter((name) => !hot.has(name)));
  const table = names.map((name, at) => `${JSON.stringify(name)}:m${at}`).join();
  const contents = [
    ...names.map((name, at) => `import * as m${at} from ${JSON.stringify(`./${name}`)};`),
    `export const chunks={${table}};`,
    `export {main} from ${JSON.stringify(`./${entryOf(outputs, MAIN)}`)};`,
  ].join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: dir },
    bundle: true,
    write: false,
    ...COMMON_JS,
    platform: "node",
    target: "node24",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [hotChunks(dir, hot, cold)],
  });
  return ascii(`${HEAD}${outputFiles[0]?.text ?? ""}\n`);
}

/** V8 keeps a text with one letter beyond Latin-1 at two bytes for each: esbuild leaves those of regular expressions. */
function ascii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/gu, (letter) =>
    letter
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** `require` as the chunks know it: other chunks by name, each once; Node's own for everything else. */
const HEAD = `"use strict";
const __node=require,__loaded=new Map();
require=(id)=>{
const name=id.slice(id.lastIndexOf("/")+1);
if(!id.startsWith("."))return __node(id);
const hot=module.exports.chunks[name];
if(hot!==undefined)return hot;
let found=__loaded.get(name);
if(found===undefined){
__loaded.set(name,found={exports:{}});
__node("./"+name.replace(/\\.js$/,".cjs"))(found,found.exports,require,__lazy);
}
return found.exports;
};
const __lazy=async(id)=>require(id);
`;

function hotChunks(dir: string, hot: ReadonlySet<string>, cold: ReadonlySet<string>): Plugin {
  return {
    name: "hot-chunks",
    setup(bundler) {
      const namespace = "chunk";
      bundler.onResolve({ filter: /^\./ }, ({ path }) =>
        hot.has(basename(path)) ? { path: basename(path), namespace } : undefined,
      );
      bundler.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: chunkText(dir, path, cold),
        resolveDir: dir,
        loader: "js",
      }));
    },
  };
}

/** A chunk that is loaded on demand is asked for through `__lazy`. */
function chunkText(dir: string, name: string, onDemand: ReadonlySet<string>): string {
  const text = readFileSync(join(dir, name === "main.js" ? name : join("chunks", name)), "utf8");
  return text
    .replace(BANNER, "")
    .replaceAll(/\bimport\(("(?:\.{1,2}\/|node:)[\w./-]+")\)/gu, (whole, path: string) =>
      path.startsWith('"node:') || onDemand.has(basename(JSON.parse(path) as string))
        ? `__lazy(${path})`
        : whole,
    );
}

export const BANNER = `import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);`;

function cjs(name: string): string {
  return name.replace(/\.js$/u, ".cjs");
}
