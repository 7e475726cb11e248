// Settings of the agent itself: loop, tools, approvals, memory, store, screen (agent.md §2.2).
import * as z from "zod/mini";
import { entry, inCategory, section } from "./leaf.ts";

const agent = inCategory("agent");
const chats = inCategory("gateway");
const terminal = inCategory("terminal");
const security = inCategory("security");
const memory = inCategory("memory");
const compression = inCategory("compression");
const display = inCategory("display");
const logging = inCategory("logging");

const guard = { guard: true } as const;
const secret = { secret: true } as const;
const names = z.array(z.string());
const DAY = 86_400;

export const toolsetLeaves = {
  toolsets: agent.list(["hermes-cli"], "Tool sets of the terminal and the browser"),
  platform_toolsets: agent.mapOf(names, "Tool sets of one chat platform, by its name"),
  custom_toolsets: agent.mapOf(names, "Own tool sets: name → tools"),
};

export const agentSection = section({
  disabled_toolsets: agent.list([], "Tool sets that are taken away everywhere"),
  max_turns: agent.int(90, [1, 10_000], "Tool rounds per turn"),
  run_budget_seconds: agent.int(0, [0, 30 * DAY], "Wall clock of a turn in seconds; 0 = none"),
  api_max_retries: agent.int(3, [0, 10], "Attempts after the first when a model call fails"),
  max_parallel_tools: agent.int(8, [1, 32], "Calls of one reply that run together"),
  reasoning_effort: agent.choice(
    ["", "none", "low", "medium", "high"],
    "",
    "How hard the model thinks; empty sends nothing",
  ),
  context_files: agent.flag(
    true,
    "Read HERMES.md, AGENTS.md or CLAUDE.md of the working directory",
  ),
  clarify_timeout: agent.int(3600, [1, 30 * DAY], "How long a question waits for you, in seconds"),
  gateway_timeout: chats.int(1800, [0, 30 * DAY], "Idle limit of a chat turn in seconds; 0 = none"),
  gateway_notify_interval: chats.int(180, [0, DAY], "Seconds between two “still working” lines"),
  restart_drain_timeout: chats.int(
    2,
    [0, 3600],
    "How long running turns may finish before a stop, in seconds; 0 = at once",
    { restart: true },
  ),
});

export const terminalSection = section({
  backend: terminal.choice(
    ["local"],
    "local",
    "Where commands run; only local exists, and another value is refused",
    guard,
  ),
  cwd: terminal.text(".", "Working directory of commands; the gateway's is workspace/"),
  timeout: terminal.int(180, [1, DAY], "Time of a command that asks for none, in seconds"),
  max_timeout: terminal.int(600, [1, 30 * DAY], "Longest time a command may ask for, in seconds"),
  output_limit_chars: terminal.int(
    30_000,
    [1000, 1_000_000],
    "Characters of output that the model gets; the rest goes to a file",
  ),
  env_passthrough: security.list([], "Variables that commands get beyond the allowed ones"),
  home_mode: security.choice(
    ["auto", "real", "profile"],
    "auto",
    "HOME of commands: auto = home/ of the profile in a container, else yours",
  ),
});

const context = (where: string): ReturnType<typeof approvalMode> => approvalMode(where);
function approvalMode(where: string) {
  return security.choice(
    ["deny", "off"],
    "deny",
    `Dangerous commands ${where}: deny or allow`,
    guard,
  );
}

export const approvalsSection = section({
  mode: security.choice(
    ["manual", "deny", "off"],
    "manual",
    "Dangerous commands: ask, deny without asking, or allow without asking",
    guard,
  ),
  timeout: security.int(300, [1, DAY], "No answer after so many seconds means no", guard),
  cron_mode: context("in scheduled runs"),
  single_query_mode: context("in one-shot questions"),
  unattended_mode: context("from the API and webhooks"),
  deny: security.list([], "Globs of commands that are never run, whatever else allows them", guard),
  destructive_slash_confirm: security.flag(
    true,
    "/new, /undo and /compress ask first in chat apps",
    guard,
  ),
});

export const securityLeaves = {
  command_allowlist: security.list([], "Commands or globs that run without asking"),
  security: section({
    redact_secrets: security.flag(true, "Hide secrets in chats, logs and tool results"),
    allow_private_urls: security.flag(false, "Let web tools reach private addresses", guard),
  }),
  unauthorized_dm_behavior: security.choice(
    ["pair", "ignore"],
    "pair",
    "A stranger's direct message gets a pairing code, or silence",
    guard,
  ),
};

export const compressionSection = section({
  enabled: compression.flag(true, "Summarise a conversation before it outgrows the window"),
  threshold: compression.number(0.5, [0.05, 0.95], "Share of the window that starts it"),
  target_ratio: compression.number(
    0.2,
    [0.01, 0.9],
    "Share of the window that is kept word for word",
  ),
  protect_first_n: compression.int(3, [0, 1000], "First messages that are never summarised"),
  protect_last_n: compression.int(20, [1, 1000], "Last messages that are never summarised"),
});

export const memorySection = section({
  memory_enabled: memory.flag(true, "Keep notes in memories/MEMORY.md"),
  user_profile_enabled: memory.flag(true, "Keep notes about you in memories/USER.md"),
  memory_char_limit: memory.int(2200, [100, 100_000], "Characters of MEMORY.md"),
  user_char_limit: memory.int(1375, [100, 100_000], "Characters of USER.md"),
  nudge_interval: memory.int(10, [0, 1000], "Turns between two reminders to take notes; 0 = never"),
});

export const skillsSection = section({
  creation_nudge_interval: agent.int(
    15,
    [0, 1000],
    "Turns between two reminders to write a skill; 0 = never",
  ),
  disabled: agent.list([], "Skills that are off"),
});

export const webSection = section({
  backend: agent.choice(
    ["auto", "none", "searxng", "brave", "tavily"],
    "auto",
    "Search service; auto = the one that is configured",
  ),
  searxng_url: agent.text("", "Address of a SearXNG server"),
  max_page_chars: agent.int(15_000, [500, 1_000_000], "Characters of a page that the model gets"),
});

export const guardrailsSection = section({
  enabled: agent.flag(true, "Notice a model that repeats the same failing call"),
  hard_stop: agent.choice(
    ["never", "unattended", "always"],
    "unattended",
    "When repeats end the turn instead of only warning",
  ),
});

export const mcpLeaf = agent.mapOf(
  entry({
    command: agent.optional(z.string(), "Program of a stdio server"),
    args: agent.optional(names, "Its arguments"),
    env: agent.optional(z.record(z.string(), z.string()), "Its environment", secret),
    url: agent.optional(z.string(), "Address of an HTTP server"),
    headers: agent.optional(z.record(z.string(), z.string()), "Headers of each request", secret),
    enabled: agent.optional(z.boolean(), "Connect to it"),
    timeout: agent.optional(z.number(), "Longest call in seconds"),
    connect_timeout: agent.optional(z.number(), "Longest connect in seconds"),
    tools: agent.optional(
      entry({
        include: agent.optional(names, "Globs of tools that are offered"),
        exclude: agent.optional(names, "Globs of tools that are not"),
      }),
      "Which of its tools are offered",
    ),
    supports_parallel_tool_calls: agent.optional(z.boolean(), "May its tools run together"),
  }),
  "MCP servers by name: {command, args, env} or {url, headers}",
);

export const displaySection = section({
  interface: display.choice(["cli", "tui"], "cli", "Plain prompt, or full-screen interface"),
  busy_input_mode: display.choice(
    ["interrupt", "queue", "steer"],
    "interrupt",
    "What a message does while a turn runs",
  ),
  tool_progress: display.choice(
    ["all", "off", "new", "verbose"],
    "all",
    "Which tool lines are shown",
  ),
  resume_display: display.choice(
    ["full", "minimal", "off"],
    "full",
    "Recap when a session is resumed",
  ),
  show_reasoning: display.flag(false, "Show what the model thinks"),
  final_response_markdown: display.choice(
    ["render", "strip", "raw"],
    "render",
    "Markdown of the answer in a terminal",
  ),
  skin: display.text("default", "Colours of the terminal"),
});

export const sessionsSection = section({
  auto_prune: agent.flag(false, "Delete old sessions by itself"),
  retention_days: agent.int(90, [1, 36_500], "Age in days at which auto_prune deletes"),
  max_resume_messages: agent.int(20_000, [10, 1_000_000], "Messages that a resume loads at most"),
});

export const cronSection = section({
  enabled: agent.flag(true, "Run scheduled jobs"),
  catch_up_missed: agent.flag(true, "Run a job late when its time was missed"),
  output_retention: agent.int(50, [0, 100_000], "Texts of runs that are kept per job"),
  wrap_response: agent.flag(true, "Say which job an answer comes from"),
  model: agent.text("", "Model of scheduled runs; empty = model.default"),
  run_timeout: agent.int(1800, [1, 30 * DAY], "Longest run in seconds"),
  max_concurrent: agent.int(2, [1, 32], "Runs at the same time"),
});

export const loggingSection = section({
  level: logging.choice(
    ["DEBUG", "INFO", "WARNING", "ERROR"],
    "INFO",
    "Least level that is written",
    { restart: true },
  ),
  max_size_mb: logging.int(5, [1, 1024], "Size at which a log file is rotated, in MB", {
    restart: true,
  }),
  backup_count: logging.int(3, [0, 100], "Rotated files that are kept", { restart: true }),
});

export const databaseSection = section({
  journal_mode: logging.choice(
    ["auto", "wal", "delete"],
    "auto",
    "SQLite journal; auto = delete on network file systems, else wal",
    { restart: true },
  ),
});
