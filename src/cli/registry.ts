// The one registry of commands (agent.md §1.2, §1.3): data only. Parsing, help, completion and docs/reference/cli.md derive from it.

export interface OptionSpec {
  /** As commander writes it: `-n, --lines N`, `--all`, `-c, --continue [NAME]`. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** A whole number of at least this. */
  readonly min?: number;
  /** May be given several times: the values come as a list. */
  readonly repeats?: boolean;
}

export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Synopsis of the operands: `NAME`, `[NAME]`, `[ID...]`. */
  readonly operands?: readonly string[];
  readonly options?: readonly OptionSpec[];
  readonly subcommands?: readonly CommandSpec[];
  /** Runs without a sub-command. Only looked at where there are some. */
  readonly bare?: boolean;
  /** A paragraph below the options. */
  readonly notes?: string;
  /** Of the image's own scripts: in the reference, not in the help. */
  readonly internal?: true;
}

const YES: OptionSpec = { flags: "-y, --yes", help: "do not ask" };

export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "-p, --profile NAME", help: "profile to work in" },
  { flags: "--json", help: "print one JSON document" },
  { flags: "--in DIR", help: "working directory of this run" },
  { flags: "-m, --model ID", help: "model of this run, never saved" },
  { flags: "--provider ID", help: "provider of this run, never saved" },
  {
    flags: "--reasoning LEVEL",
    help: "reasoning effort of this run",
    choices: ["none", "low", "medium", "high"],
  },
  { flags: "-t, --toolsets CSV", help: "tool sets of this run" },
  { flags: "-r, --resume SESSION", help: "go on with a session: id, prefix, title or latest" },
  {
    flags: "-c, --continue [NAME]",
    help: "go on with the newest session, or the newest of that title",
  },
  { flags: "--no-restore-cwd", help: "stay in this directory when a session is resumed" },
  { flags: "--yolo", help: "skip approvals; never the hard block list nor approvals.deny" },
  { flags: "--safe-mode", help: "built-in defaults, no persona, no context files, no memory" },
  { flags: "--tui", help: "full-screen interface" },
  { flags: "--cli", help: "plain line interface" },
  { flags: "-z, --oneshot PROMPT", help: "answer PROMPT and exit; stdout is the answer only" },
  {
    flags: "--usage-file PATH",
    help: "write the usage report of the run to PATH, also on failure",
  },
];

const CHAT_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "-q, --query TEXT",
    help: "first message; answers and exits without a terminal or with -Q",
  },
  { flags: "--query-file PATH", help: "read the message from a file, or from stdin with -" },
  { flags: "-Q, --quiet", help: "answer and exit, also with a terminal" },
  {
    flags: "--format FORMAT",
    help: "what goes to stdout; stream-json prints every event and implies -Q",
    choices: ["text", "stream-json"],
  },
  { flags: "--max-turns N", help: "tool rounds of the turn", min: 1 },
  { flags: "--run-budget SECONDS", help: "wall clock of the turn; 0 is none", min: 0 },
  { flags: "--source TAG", help: "where the session says that it comes from" },
  { flags: "--create-if-missing", help: "with -c NAME: start that session when there is none" },
  { flags: "--list-tools", help: "print the tools of this run and exit" },
  { flags: "--list-toolsets", help: "print the tool sets and exit" },
  { flags: "-v, --verbose", help: "show tool output as it comes" },
];

const GATEWAY_RUN_OPTIONS: readonly OptionSpec[] = [
  { flags: "-v, --verbose", help: "show the log on stderr" },
  { flags: "-q, --quiet", help: "show warnings only" },
  { flags: "--replace", help: "end the gateway of this home that runs, and take its place" },
  { flags: "--no-supervise", help: "stay in the foreground in a supervised container too" },
];
const ALL_GATEWAYS: OptionSpec = { flags: "--all", help: "of every profile" };
const WAIT: OptionSpec = { flags: "--wait S", help: "seconds to wait (15)", min: 0 };

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "chat",
    summary: "Talk to the agent (also what runs without a command)",
    options: CHAT_OPTIONS,
    notes:
      "Exit codes: 0 answered, 1 the turn failed, 64 usage, 78 no usable model or key, 124 the budget ended it, 130 and 143 interrupted.",
  },
  {
    name: "setup",
    summary: "Set this machine up, step by step",
    operands: ["[STEP]"],
    options: [{ flags: "--reconfigure", help: "ask again for what is set already" }],
    notes:
      "STEP is model. Without a terminal use: hermes model set PROVIDER MODEL, hermes config set KEY VALUE.",
  },
  {
    name: "model",
    summary: "Choose the model and its key",
    bare: true,
    options: [{ flags: "--demo", help: "use the built-in demo model, which is not an AI" }],
    subcommands: [
      { name: "list", summary: "List the models that can be chosen" },
      {
        name: "set",
        summary: "Save the default model",
        operands: ["PROVIDER", "MODEL"],
        options: [
          { flags: "--base-url URL", help: "endpoint of that provider" },
          { flags: "--key-env NAME", help: "variable that holds its key" },
        ],
      },
      { name: "test", summary: "Make one real call, 20 s at most" },
    ],
  },
  {
    name: "config",
    summary: "Read and change the configuration",
    subcommands: [
      { name: "show", summary: "Print the configuration in effect; secrets are masked" },
      { name: "get", summary: "Print one value", operands: ["KEY"] },
      {
        name: "set",
        summary: "Save one value; the name of a secret goes to .env",
        operands: ["KEY", "VALUE"],
        options: [{ flags: "--string", help: "VALUE is text, not YAML" }],
        notes:
          "Dotted keys; \\. is a literal dot. VALUE - reads it from stdin, which keeps secrets off the command line.",
      },
      { name: "unset", summary: "Go back to the default", operands: ["KEY"] },
      { name: "edit", summary: "Open config.yaml in $EDITOR" },
      { name: "path", summary: "Print the path of config.yaml" },
      { name: "env-path", summary: "Print the path of .env" },
      { name: "check", summary: "Find unknown, invalid and old settings" },
      {
        name: "migrate",
        summary: "Add what a newer version needs; copies are kept",
        options: [{ flags: "--dry-run", help: "only say what would change" }],
      },
    ],
  },
  {
    name: "status",
    summary: "One screen: version, model, keys, services, sessions",
    options: [
      { flags: "--all", help: "every profile" },
      { flags: "--deep", help: "with identities and last exits" },
      { flags: "--check", help: "exit 1 unless all that should run is ready" },
    ],
  },
  {
    name: "doctor",
    summary: "Look for problems and say how to fix them",
    options: [
      { flags: "--fix", help: "make missing directories, set modes, finish the index" },
      { flags: "--live", help: "also ask the model and local servers" },
    ],
  },
  {
    name: "gateway",
    summary: "The process that serves chat platforms, the API and webhooks of a profile",
    bare: true,
    options: GATEWAY_RUN_OPTIONS,
    subcommands: [
      {
        name: "run",
        summary: "Serve in this process; in a supervised container its service is started instead",
        options: GATEWAY_RUN_OPTIONS,
        notes:
          "Exit codes: 0 stopped, 75 stopped under supervision or restart asked for, 78 refused (broken configuration, home held by another gateway, root).",
      },
      {
        name: "start",
        summary: "Start the service and wait until it is ready",
        options: [ALL_GATEWAYS, WAIT],
      },
      { name: "stop", summary: "Stop the service", options: [ALL_GATEWAYS, WAIT] },
      {
        name: "restart",
        summary: "Restart the service and wait until it is ready",
        options: [ALL_GATEWAYS, WAIT],
      },
      {
        name: "status",
        summary: "How the gateway of this profile is doing",
        options: [{ flags: "--deep", help: "with identity, last exits and every platform" }],
      },
      { name: "list", summary: "The gateway of every profile" },
      {
        name: "install",
        summary: "Have the user's systemd supervise the gateway of this profile from login on",
        notes:
          "Writes a unit and starts nothing. Where s6 supervises there is nothing to install; where nothing does: 69.",
      },
      { name: "uninstall", summary: "Stop the gateway and take its unit away" },
    ],
  },
  {
    name: "dashboard",
    aliases: ["web"],
    summary: "Serve the web interface on 127.0.0.1:9119",
    options: [
      { flags: "--host HOST", help: "address to bind" },
      { flags: "--port PORT", help: "port; 0 lets the system choose", min: 0 },
      { flags: "--no-open", help: "do not open the browser" },
      { flags: "--insecure", help: "serve beyond this machine without a login" },
      { flags: "--status", help: "say whether one runs" },
      { flags: "--stop", help: "stop the one that runs" },
    ],
    bare: true,
    subcommands: [
      {
        name: "set-password",
        summary: "Set user name and password of the login",
        operands: ["[USERNAME]"],
        options: [{ flags: "--password-stdin", help: "read the password from stdin, do not ask" }],
      },
      {
        name: "register",
        summary: "Sign in at a portal under the client id that it gave",
        options: [{ flags: "--client-id ID", help: "agent:… as the portal shows it" }],
      },
      {
        name: "sessions",
        summary: "List or end logins",
        operands: ["ACTION", "[ID]"],
        notes:
          "ACTION is list, revoke ID (what list shows, or the start of it) or revoke-all. It takes effect within 2 s.",
      },
      {
        name: "rotate-secret",
        summary: "Make a new session key: every login ends",
      },
      {
        name: "unlock",
        summary: "Forget failed logins",
        operands: ["[USER]"],
        options: [{ flags: "--all", help: "of everybody" }],
      },
    ],
  },
  {
    name: "probe",
    summary: "Ask agents whether they are alive, as a portal does",
    operands: ["[URL...]"],
    options: [
      { flags: "--concurrency N", help: "how many at a time (32)", min: 1 },
      { flags: "--timeout S", help: "seconds for each answer (5)", min: 1 },
      { flags: "--expect CODE", help: "exit 0 if every answer has this code, else 1", min: 100 },
      { flags: "--header K:V", help: "send this header too; repeatable", repeats: true },
      { flags: "--self", help: "is this container well? exit 0 or 1, one line: its HEALTHCHECK" },
      { flags: "--raw URL", help: "ask exactly URL and print status and body as JSON" },
    ],
    notes:
      "Asks URL/api/status without a cookie. Exit codes: 0 all running or gated, 1 one is down, 75 one is starting; with --raw 0 any HTTP answer, 69 none.",
  },
  {
    name: "profile",
    summary: "Independent agents: own settings, memory and sessions",
    subcommands: [
      { name: "list", summary: "List the profiles" },
      {
        name: "create",
        summary: "Make a profile",
        operands: ["NAME"],
        options: [
          { flags: "--clone", help: "with settings, persona, skills and memory of this profile" },
          { flags: "--clone-all", help: "with its media and workspace too" },
          { flags: "--clone-from SRC", help: "clone that profile instead of this one" },
          { flags: "--description TEXT", help: "what it is for" },
          { flags: "--no-skills", help: "without the skills of the source" },
          { flags: "--no-alias", help: "without a command of its own in ~/.local/bin" },
        ],
        notes:
          "A clone never gets bot tokens, ports, API and webhook keys, allow-lists, pairings or home channels. Exit code 3: the profile is made, its service is not registered.",
      },
      { name: "use", summary: "Make a profile the one that runs without -p", operands: ["NAME"] },
      { name: "show", summary: "Show one profile, or the current one", operands: ["[NAME]"] },
      {
        name: "rename",
        summary: "Give a profile another name; its gateway is stopped and started again",
        operands: ["OLD", "NEW"],
      },
      {
        name: "delete",
        summary: "Stop its gateway and delete a profile with all that is in it",
        operands: ["NAME"],
        options: [YES],
      },
      {
        name: "export",
        summary: "Write a profile to a .tar.gz, without secrets and history",
        operands: ["NAME"],
        options: [{ flags: "-o, --output FILE", help: "where to (NAME.tar.gz)" }],
      },
      {
        name: "import",
        summary: "Make a profile from such a file",
        operands: ["FILE"],
        options: [{ flags: "--name NAME", help: "instead of the name that it has there" }],
      },
      {
        name: "repair",
        summary: "Register the services of profiles that were copied in, or of one",
        operands: ["[NAME]"],
      },
      { name: "describe", summary: "Say what a profile is for", operands: ["NAME", "TEXT..."] },
      {
        name: "alias",
        summary: "Make a profile a command of its own in ~/.local/bin",
        operands: ["NAME"],
        options: [{ flags: "--remove", help: "take it away again" }],
      },
    ],
  },
  {
    name: "sessions",
    summary: "List, search and keep conversations",
    subcommands: [
      {
        name: "list",
        summary: "Newest first",
        options: [
          { flags: "--source SOURCE", help: "only those from there" },
          { flags: "--limit N", help: "at most this many (20)", min: 1 },
          { flags: "--all", help: "hidden and archived ones too" },
        ],
      },
      { name: "show", summary: "Print one conversation", operands: ["SESSION"] },
      {
        name: "search",
        summary: "Search the text of all conversations",
        operands: ["QUERY..."],
        options: [
          { flags: "--source SOURCE", help: "only those from there" },
          { flags: "--limit N", help: "at most this many (20)", min: 1 },
          { flags: "--all", help: "hidden ones too" },
        ],
      },
      { name: "rename", summary: "Change the title", operands: ["SESSION", "TITLE..."] },
      {
        name: "delete",
        summary: "Delete with all messages",
        operands: ["SESSION"],
        options: [YES],
      },
      {
        name: "export",
        summary: "Print sessions as JSON lines or Markdown",
        operands: ["[SESSION...]"],
        options: [
          { flags: "--all", help: "every session" },
          {
            flags: "--format FORMAT",
            help: "jsonl can be imported again",
            choices: ["jsonl", "md"],
          },
          { flags: "--redact", help: "hide secrets that stand in the text" },
        ],
      },
      {
        name: "import",
        summary: "Read JSON lines that export wrote; - is stdin",
        operands: ["FILE"],
      },
      {
        name: "prune",
        summary: "Delete old sessions that nobody pinned",
        options: [
          {
            flags: "--older-than DAYS",
            help: "days without activity (sessions.retention_days)",
            min: 1,
          },
          { flags: "--dry-run", help: "only print them" },
          YES,
        ],
      },
      { name: "stats", summary: "Counts and size" },
      { name: "optimize", summary: "Compact the database and its index" },
      { name: "check", summary: "Look for damage" },
    ],
  },
  {
    name: "logs",
    summary: "Read the logs",
    operands: ["[FILE]"],
    options: [
      { flags: "-n, --lines N", help: "how many (50)", min: 1 },
      { flags: "-f, --follow", help: "go on as lines come, across rotation" },
      { flags: "--level LEVEL", help: "this severity and above: debug, info, warning, error" },
      { flags: "--since TIME", help: "30m, 2h, 3d or an ISO time" },
      { flags: "--session ID", help: "lines of one session" },
      { flags: "--component NAME", help: "lines of one component" },
    ],
    notes:
      "FILE is agent (default), errors, gateway, gui (or dashboard), boot, or list. Filters are AND-ed.",
  },
  {
    name: "memory",
    summary: "What the agent remembers",
    subcommands: [
      { name: "show", summary: "Print MEMORY.md and USER.md" },
      {
        name: "clear",
        summary: "Empty one or both; a copy goes to backups/",
        operands: ["[WHICH]"],
        options: [YES],
        notes: "WHICH is memory or user; both without it.",
      },
    ],
  },
  {
    name: "dump",
    summary: "Plain text for a bug report, without secrets and messages",
    options: [{ flags: "--full", help: "with every setting, not only the changed ones" }],
  },
  {
    name: "supervise",
    summary: "Keep every service of this home running, with s6, until it is stopped",
    notes:
      "In a container whose first process is not ours, or on a Linux host with s6 installed. TERM stops all of them, then it ends with 0.",
  },
  {
    name: "container",
    summary: "What the image does at its start",
    internal: true,
    subcommands: [
      {
        name: "prepare",
        summary: "Set the container up: owner, volume, services, command",
        operands: ["[WORD...]"],
        options: [{ flags: "--not-pid-1", help: "another init is the first process: no services" }],
        notes: "The words after -- are the container's command.",
      },
      {
        name: "reconcile",
        summary: "Register services of profiles that came, take away those of profiles that went",
        options: [{ flags: "--dry-run", help: "only list what would change" }],
      },
      {
        name: "route",
        summary: "Print as JSON what a container with this command would run",
        operands: ["[WORD...]"],
      },
      {
        name: "repair-owner",
        summary: "Give every file of ours in the home to the runtime user (root)",
      },
    ],
  },
  {
    name: "slot-run",
    summary: "Become the service of a slot; started by the supervisor only",
    internal: true,
    operands: ["SLOT"],
  },
  { name: "update", summary: "How to get a newer version" },
  { name: "version", summary: "Print the version" },
  { name: "help", summary: "Explain a command", operands: ["[COMMAND...]"] },
];

/** Every word that can stand first: names and aliases. */
export function commandWords(): readonly string[] {
  return COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
}

/** Words that a later version gives a meaning to: a profile's alias must never come to hide one. */
const COMING_WORDS: readonly string[] = [
  ..."pairing cron skills mcp webhook send backup import auth".split(" "),
  ..."fallback tools skin prompt-size completion hooks".split(" "),
];

/** What no profile may be called (agent.md §8). */
export function reservedWords(): readonly string[] {
  return [...commandWords(), ...COMING_WORDS];
}

export function findCommand(
  word: string,
  among: readonly CommandSpec[] = COMMANDS,
): CommandSpec | null {
  return among.find((entry) => entry.name === word || (entry.aliases ?? []).includes(word)) ?? null;
}

/** How an option is spelled and whether it takes a value: `-n, --lines N` → `-n`, `--lines`, required. */
export function spellings(option: OptionSpec): {
  readonly names: readonly string[];
  readonly value: "none" | "required" | "optional";
} {
  const names = option.flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
  const rest = option.flags.replaceAll(/--?[A-Za-z-]+/g, "");
  if (rest.includes("[")) return { names, value: "optional" };
  return { names, value: /[A-Z]/.test(rest) ? "required" : "none" };
}
