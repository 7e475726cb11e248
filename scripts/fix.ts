// `npm run fix`: what a machine can repair: lint, format, generated docs.
import { pinnedNode, run } from "./run.ts";

const codes = [
  run("oxlint", ["--fix", "--quiet"]),
  run("oxfmt", []),
  run(pinnedNode(), ["scripts/docs.ts"]),
];
process.exitCode = Math.max(...codes);
