// Settings of chat platforms and of the process that serves them (agent.md §2.2, §7).
import * as z from "zod/mini";
import { inCategory, section } from "./leaf.ts";
import { isHost, isOrigin } from "./value-rules.ts";

const chats = inCategory("gateway");
const guard = { guard: true, restart: true } as const;
const restart = { restart: true } as const;

function common(label: string) {
  return {
    enabled: chats.autoFlag(`Serve ${label}; auto = when its secret is set`, guard),
    home_channel: chats.text("", `Chat that gets what ${label} sends by itself`),
    allowed_users: chats.list([], `Ids that may talk to the agent on ${label}`, guard),
    toolset: chats.text("", `Tool set of ${label}; empty = its usual one`),
    require_mention: chats.flag(true, `Answer in groups of ${label} only when spoken to`, guard),
    extra: chats.anyMap(`Further settings of ${label}`),
    token: chats.optional(z.string(), "Old spelling of the secret; move it to .env", {
      secret: true,
      hidden: true,
    }),
  };
}

function bind(label: string, port: number) {
  return {
    host: chats.checkedText("127.0.0.1", `Address on which ${label} listens`, {
      ...guard,
      expects: "an address or a host name",
      accepts: isHost,
    }),
    port: chats.int(port, [1, 65_535], `Port on which ${label} listens`, guard),
  };
}

export const platformsSection = section({
  telegram: section({
    ...common("Telegram"),
    api_root: chats.text("", "Another Bot API server", restart),
  }),
  discord: section(common("Discord")),
  slack: section(common("Slack")),
  xmpp: section({
    ...common("XMPP"),
    jid: chats.text("", "Own address, user@server", restart),
    service: chats.text("", "Server, when it is not the one that the address names", restart),
    rooms: chats.list([], "Rooms to join", restart),
    nick: chats.text("hermes", "Name in rooms", restart),
    allow_plaintext: chats.flag(false, "Go on without TLS", guard),
  }),
  api_server: section({
    ...common("the API server"),
    ...bind("the API server", 8642),
    cors_origins: chats.checkedList("Origins whose pages may call the API server", {
      ...guard,
      expects: "exact origins such as https://app.example.org",
      accepts: isOrigin,
    }),
    model_name: chats.text("", "Name under which the agent is offered; empty = the profile's"),
    max_concurrent_runs: chats.int(10, [1, 1000], "Requests answered at the same time"),
  }),
  webhook: section({ ...common("webhooks"), ...bind("the webhook server", 8644) }),
});

export const gatewayLeaves = {
  group_sessions_per_user: chats.flag(true, "In groups everybody has an own session"),
  thread_sessions_per_user: chats.flag(false, "In threads everybody has an own session"),
  gateway: section({
    max_concurrent_turns: chats.int(
      8,
      [1, 1000],
      "Turns at the same time; more are queued",
      restart,
    ),
    max_backlog_seconds: chats.int(
      900,
      [0, 604_800],
      "Messages older than this at a start are not answered, in seconds",
    ),
    platform_connect_timeout: chats.int(30, [1, 600], "Longest login to a platform, in seconds"),
    max_inbound_media_mb: chats.int(20, [0, 2000], "Largest file that is taken in, in MB"),
  }),
  streaming: section({
    enabled: chats.flag(false, "Edit the answer in a chat while it grows"),
    edit_interval: chats.number(1, [0.2, 60], "Seconds between two edits"),
    buffer_threshold: chats.int(24, [1, 4000], "Characters that are worth an edit"),
  }),
};
