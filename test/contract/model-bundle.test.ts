// The model room as it is shipped: bundled and split. A lazily imported CommonJS package loses its names there, which no
// test of the sources can see.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { text } from "../kit/model-reply.ts";
import { startModelServer } from "../kit/model-server.ts";
import { tempDir } from "../kit/temp-dir.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** Streams one answer per wire and prints the types of the events. */
const PROGRAM = `
import { collect, modelRequest, openDeps, openTestTarget, settingsFor } from "./test/kit/model-settings.ts";
const [baseUrl, cacheDir] = process.argv.slice(2);
for (const wire of ["openai-chat", "anthropic-messages"]) {
  const target = await openTestTarget(openDeps(settingsFor(wire, baseUrl), cacheDir));
  const events = await collect(target.client.stream(modelRequest()));
  console.log(JSON.stringify(events.map((event) => event.error ?? event.type)));
}
`;

test("a bundled model room streams on both wires", async (t) => {
  const dir = tempDir(t);
  await build({
    absWorkingDir: ROOT,
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: "ts", sourcefile: "program.ts" },
    outdir: dir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    minifySyntax: true,
    banner: {
      js: `import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);`,
    },
    logLevel: "error",
  });
  writeFileSync(join(dir, "package.json"), JSON.stringify({ type: "module" }));
  const server = await startModelServer(t, [{ reply: text("hi"), times: 2 }]);
  const program = join(dir, "stdin.js");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    program,
    server.baseUrl,
    dir,
  ]);
  const lines = stdout.trim().split("\n");
  assert.deepEqual(lines, ['["text-delta","finish"]', '["text-delta","finish"]']);
  assert.equal(stderr, "");
  server.assertDone();
});
