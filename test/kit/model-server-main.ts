// The scripted model server as a program, for tests that need it in another process:
//   node test/kit/model-server-main.ts SCRIPT.json [SHAPES.json]
// SCRIPT.json is a list of {when?, reply, times?} as in model-server.ts ("always" stands for times: Infinity). Prints
// `{"port":N}` and then one JSON line per chat request; ends on SIGTERM or when its stdin closes.
import { readFileSync } from "node:fs";
import { ModelServer, type ScriptStep } from "./model-server.ts";
import type { ServerShapes } from "./model-shapes.ts";

interface FileStep extends Omit<ScriptStep, "times"> {
  readonly times?: number | "always";
}

const [scriptPath, shapesPath] = process.argv.slice(2);
if (scriptPath === undefined) {
  console.error("usage: model-server-main.ts SCRIPT.json [SHAPES.json]");
  process.exit(64);
}

const steps = (JSON.parse(readFileSync(scriptPath, "utf8")) as FileStep[]).map(
  ({ times, ...step }): ScriptStep => ({
    ...step,
    times: times === "always" ? Infinity : (times ?? 1),
  }),
);
const shapes =
  shapesPath === undefined ? {} : (JSON.parse(readFileSync(shapesPath, "utf8")) as ServerShapes);
const server = new ModelServer(steps, shapes);
await server.listen();
console.log(JSON.stringify({ port: server.port }));

let printed = 0;
const printer = setInterval(() => {
  for (const request of server.requests.slice(printed)) {
    printed += 1;
    console.log(
      JSON.stringify({ path: request.path, headers: request.headers, body: request.body }),
    );
  }
}, 20);

async function stop(): Promise<void> {
  clearInterval(printer);
  await server.close();
  process.exit(0);
}
process.on("SIGTERM", () => void stop());
process.stdin.on("end", () => void stop()).resume();
