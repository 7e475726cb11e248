// The platform `api_server`: an OpenAI-compatible server on a port of its own (agent.md §7.9, field-rules K06, D05).
import { getRequestListener } from "@hono/node-server";
import { listen, type Listener } from "../../http-listener.ts";
import type { Platform, PlatformContext } from "../../platform.ts";
import { portTakenMessage } from "../../port-taken.ts";
import { createApi } from "./app.ts";
import { judgeKey } from "./key.ts";

/** Part of the second that the runner gives a platform to go. */
const CLOSE_MS = 500;

export function openApiServer(): Platform {
  let listener: Listener | null = null;
  return {
    name: "api_server",
    async connect(context) {
      listener = await start(context);
    },
    async disconnect() {
      await listener?.close(CLOSE_MS);
    },
  };
}

/** null: refused, with its reason as the platform's state; the gateway goes on without it. */
async function start(context: PlatformContext): Promise<Listener | null> {
  const loaded = context.loaded();
  const { host, port } = loaded.config.platforms.api_server;
  const judged = judgeKey(loaded.env.get("API_SERVER_KEY"));
  if (!judged.ok) {
    context.state("refused", { code: judged.code, message: judged.message });
    return null;
  }
  const app = createApi(context, judged.key);
  const handle = getRequestListener((request) => app.fetch(request));
  const opened = await listen({ host, port, handle: (...both) => void handle(...both) });
  if (!opened.ok) {
    const code = opened.isTaken ? "PORT_TAKEN" : "LISTEN_FAILED";
    const setting = "platforms.api_server.port";
    const message = opened.isTaken ? portTakenMessage(loaded, host, port, setting) : opened.message;
    context.state("refused", { code, message });
    return null;
  }
  context.log.info("the API server listens", { host, port: opened.listener.port });
  context.state("connected");
  return opened.listener;
}
