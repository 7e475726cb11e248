// What the gateway's runner hands to a platform, over a session home: real conversations, scripted model.
import type { TestContext } from "node:test";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { loadConfig } from "#config/load.ts";
import type { PlatformContext, PlatformStateName } from "#gateway/platform.ts";
import { TurnGate } from "#gateway/turn-gate.ts";
import { startModelServer, type ModelServer, type ScriptStep } from "./model-server.ts";
import { openSessionHome, type SessionHome } from "./session-home.ts";

export interface PlatformKit extends SessionHome {
  readonly context: PlatformContext;
  readonly turns: TurnGate;
  readonly model: ModelServer;
  /** Every state that the platform told, with its trouble's sentence. */
  readonly states: (readonly [PlatformStateName, string | null])[];
}

export interface PlatformKitOptions {
  /** Lines that are added to config.yaml. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openPlatformKit(
  t: TestContext,
  script: readonly ScriptStep[],
  options: PlatformKitOptions = {},
): Promise<PlatformKit> {
  const model = await startModelServer(t, script);
  const config = [
    `model:\n  provider: custom\n  default: scripted\n  base_url: ${model.baseUrl}\n  context_length: 100000`,
    `providers:\n  custom:\n    key_env: TEST_KEY`,
    `agent:\n  api_max_retries: 1`,
    options.config ?? "",
  ].join("\n");
  const env = { TEST_KEY: "test-key-0123456789", ...options.env };
  const session = await openSessionHome(t, { config, env });
  const { home, service, store } = session;
  const loaded = loadConfig({ processEnv: { HERMES_HOME: home, ...env }, home });
  const turns = new TurnGate();
  const states: PlatformKit["states"] = [];
  const context: PlatformContext = {
    profile: "default",
    loaded: () => loaded,
    conversations: async () => ({ sessions: service, archive: store }),
    deliveries: {
      isNew: (platform, eventId, seconds) => {
        const now = Date.now() / 1000;
        const event = { platform, eventId, event: "{}", state: "done" } as const;
        return store.recordInbound({ ...event, now, forgetBefore: now - seconds });
      },
      forget: (platform, eventId) => store.forgetInbound(platform, eventId),
    },
    turns,
    clock: systemClock,
    log: silentLog,
    redact: (text) => text,
    state: (name, trouble) => void states.push([name, trouble?.message ?? null]),
  };
  return { ...session, context, turns, model, states };
}
