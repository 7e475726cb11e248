// The platform `webhook`: signed requests become turns of the agent (agent.md §7.9).
import { listen, type Listener } from "../../http-listener.ts";
import type { Platform, PlatformContext } from "../../platform.ts";
import { portTakenMessage } from "../../port-taken.ts";
import { send } from "./answer.ts";
import { WebhookHandler } from "./handler.ts";

const CLOSE_MS = 500;

export function openWebhook(): Platform {
  let listener: Listener | null = null;
  return {
    name: "webhook",
    async connect(context) {
      listener = await start(context);
    },
    async disconnect() {
      await listener?.close(CLOSE_MS);
    },
  };
}

async function start(context: PlatformContext): Promise<Listener | null> {
  const loaded = context.loaded();
  const { host, port } = loaded.config.platforms.webhook;
  const handler = new WebhookHandler(context);
  const opened = await listen({
    host,
    port,
    handle(incoming, outgoing) {
      handler.answer(incoming).then(
        (answer) => send(outgoing, answer),
        (error: unknown) => {
          context.log.error("a webhook failed", { error });
          send(outgoing, { status: 500, body: { error: "internal error" } });
        },
      );
    },
  });
  if (!opened.ok) {
    const message = opened.isTaken
      ? portTakenMessage(loaded, host, port, "platforms.webhook.port")
      : opened.message;
    context.state("refused", { code: opened.isTaken ? "PORT_TAKEN" : "LISTEN_FAILED", message });
    return null;
  }
  context.log.info("webhooks are taken", { host, port: opened.listener.port });
  context.state("connected");
  return opened.listener;
}
