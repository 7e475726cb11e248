// `npm run dev`: the dashboard from source, restarted on change; the browser app rebuilt on change.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { environment, pinnedNode, ROOT } from "./run.ts";

const children = [
  spawn("vite", ["build", "--watch", "--mode", "development"], {
    cwd: join(ROOT, "web"),
    stdio: "inherit",
    env: environment(),
  }),
  spawn(
    pinnedNode(),
    [
      "--watch-path=src",
      "--watch-preserve-output",
      "bin/hermes.mjs",
      "dashboard",
      ...process.argv.slice(2),
    ],
    {
      cwd: ROOT,
      stdio: "inherit",
      env: environment({ HERMES_FROM_SOURCE: "1" }),
    },
  ),
];
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => children.forEach((child) => child.kill(signal)));
}
