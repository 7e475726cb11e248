// Providers as they are shipped: bundled and split, where a lazily imported CommonJS package (undici) loses its names.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { GENERIC_CLIENT, startGeneric } from "../kit/oidc-generic.ts";
import { PORTAL_CLIENT, startPortal } from "../kit/oidc-portal.ts";
import { tempDir } from "../kit/temp-dir.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const PROGRAM = `
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { login, NO_SETTINGS, redirectProvider } from "./test/kit/oidc-providers.ts";
const [portalUrl, nousId, issuer, clientId] = process.argv.slice(2);
const settings = {
  nous: { clientId: nousId, portalUrl },
  selfHosted: { ...NO_SETTINGS.selfHosted, issuer, clientId },
};
for (const name of ["nous", "self-hosted"]) {
  const provider = redirectProvider(name, settings, systemClock, silentLog);
  console.log((await login(provider)).identity.userId);
}
`;

test("bundled providers log in at both issuers", async (t) => {
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
  const [portal, generic] = [await startPortal(), await startGeneric()];
  t.after(() => Promise.all([portal, generic].map((issuer) => issuer[Symbol.asyncDispose]())));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(dir, "stdin.js"), portal.url, PORTAL_CLIENT, generic.url, GENERIC_CLIENT],
    { timeout: 60_000 },
  );
  assert.equal(stdout, "portal-user-1\nuser-1\n");
});
