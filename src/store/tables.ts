// Every table of state.db, declared once (agent.md §6.2). Times are seconds since 1970 as REAL.

export interface Table {
  readonly name: string;
  /** Column → SQL type and constraints. */
  readonly columns: Readonly<Record<string, string>>;
  readonly constraints?: readonly string[];
}

const COUNT = "INTEGER DEFAULT 0";
const TOKENS = {
  input_tokens: COUNT,
  output_tokens: COUNT,
  cache_read_tokens: COUNT,
  cache_write_tokens: COUNT,
  reasoning_tokens: COUNT,
};

const SESSIONS: Table = {
  name: "sessions",
  columns: {
    id: "TEXT PRIMARY KEY",
    source: "TEXT NOT NULL",
    user_id: "TEXT",
    model: "TEXT",
    model_config: "TEXT",
    system_prompt: "TEXT",
    parent_session_id: "TEXT REFERENCES sessions(id)",
    started_at: "REAL NOT NULL",
    ended_at: "REAL",
    end_reason: "TEXT",
    message_count: COUNT,
    tool_call_count: COUNT,
    ...TOKENS,
    billing_provider: "TEXT",
    billing_base_url: "TEXT",
    billing_mode: "TEXT",
    estimated_cost_usd: "REAL",
    actual_cost_usd: "REAL",
    cost_status: "TEXT",
    title: "TEXT",
    api_call_count: COUNT,
    root_id: "TEXT",
    session_key: "TEXT",
    cwd: "TEXT",
    last_active_at: "REAL",
    title_source: "TEXT",
    tools_hash: "TEXT",
    state: "TEXT DEFAULT 'idle'",
    hidden: COUNT,
    archived: COUNT,
    pinned: COUNT,
  },
};

const MESSAGES: Table = {
  name: "messages",
  columns: {
    id: "INTEGER PRIMARY KEY AUTOINCREMENT",
    session_id: "TEXT NOT NULL REFERENCES sessions(id)",
    role: "TEXT NOT NULL",
    content: "TEXT",
    tool_call_id: "TEXT",
    tool_calls: "TEXT",
    tool_name: "TEXT",
    timestamp: "REAL NOT NULL",
    token_count: "INTEGER",
    finish_reason: "TEXT",
    reasoning: "TEXT",
    reasoning_content: "TEXT",
    reasoning_details: "TEXT",
    active: "INTEGER NOT NULL DEFAULT 1",
    kind: "TEXT",
    turn_id: "TEXT",
    platform_message_id: "TEXT",
    client_key: "TEXT",
  },
};

const TURNS: Table = {
  name: "turns",
  columns: {
    turn_id: "TEXT PRIMARY KEY",
    session_id: "TEXT NOT NULL",
    surface: "TEXT NOT NULL",
    provider: "TEXT",
    model: "TEXT",
    started_at: "REAL NOT NULL",
    ended_at: "REAL",
    outcome: "TEXT",
    error_kind: "TEXT",
    owner_pid: "INTEGER NOT NULL",
    owner_start: "TEXT NOT NULL",
    owner_host: "TEXT NOT NULL",
  },
};

const TURN_LEASES: Table = {
  name: "turn_leases",
  columns: {
    session_id: "TEXT PRIMARY KEY",
    turn_id: "TEXT NOT NULL",
    owner: "TEXT NOT NULL",
    surface: "TEXT NOT NULL",
    expires_at: "REAL NOT NULL",
  },
};

const TURN_DRAFTS: Table = {
  name: "turn_drafts",
  columns: {
    id: "INTEGER PRIMARY KEY",
    turn_id: "TEXT NOT NULL",
    session_id: "TEXT NOT NULL",
    text: "TEXT NOT NULL",
  },
};

const ROUTES: Table = {
  name: "routes",
  columns: {
    session_key: "TEXT PRIMARY KEY",
    session_id: "TEXT NOT NULL",
    platform: "TEXT",
    chat_id: "TEXT",
    chat_name: "TEXT",
    user_id: "TEXT",
    thread_id: "TEXT",
    updated_at: "REAL NOT NULL",
  },
};

const INBOUND_EVENTS: Table = {
  name: "inbound_events",
  columns: {
    platform: "TEXT NOT NULL",
    event_id: "TEXT NOT NULL",
    event: "TEXT NOT NULL",
    received_at: "REAL NOT NULL",
    attempts: "INTEGER NOT NULL DEFAULT 0",
    state: "TEXT NOT NULL DEFAULT 'queued'",
  },
  constraints: ["PRIMARY KEY (platform, event_id)"],
};

const DELIVERIES: Table = {
  name: "deliveries",
  columns: {
    id: "TEXT PRIMARY KEY",
    dedupe_key: "TEXT UNIQUE",
    session_id: "TEXT",
    turn_id: "TEXT",
    platform: "TEXT NOT NULL",
    target: "TEXT NOT NULL",
    thread: "TEXT",
    body: "TEXT NOT NULL",
    part: "INTEGER NOT NULL DEFAULT 0",
    state: "TEXT NOT NULL DEFAULT 'pending'",
    attempts: "INTEGER NOT NULL DEFAULT 0",
    next_at: "REAL",
    sent_ids: "TEXT",
    error: "TEXT",
    created_at: "REAL NOT NULL",
    updated_at: "REAL NOT NULL",
  },
};

const CRON_JOBS: Table = {
  name: "cron_jobs",
  columns: {
    id: "TEXT PRIMARY KEY",
    name: "TEXT",
    prompt: "TEXT NOT NULL",
    schedule: "TEXT NOT NULL",
    timezone: "TEXT",
    skills: "TEXT",
    deliver: "TEXT",
    repeat_times: "INTEGER",
    repeat_done: "INTEGER NOT NULL DEFAULT 0",
    enabled: "INTEGER NOT NULL DEFAULT 1",
    state: "TEXT NOT NULL DEFAULT 'scheduled'",
    next_run_at: "REAL",
    last_run_at: "REAL",
    last_status: "TEXT",
    last_error: "TEXT",
    provider: "TEXT",
    model: "TEXT",
    workdir: "TEXT",
    origin: "TEXT",
    created_at: "REAL NOT NULL",
  },
};

const CRON_RUNS: Table = {
  name: "cron_runs",
  columns: {
    id: "TEXT PRIMARY KEY",
    job_id: "TEXT NOT NULL",
    scheduled_for: "REAL NOT NULL",
    started_at: "REAL",
    ended_at: "REAL",
    status: "TEXT",
    session_id: "TEXT",
    output_path: "TEXT",
    error: "TEXT",
  },
  constraints: ["UNIQUE (job_id, scheduled_for)"],
};

const MODEL_USAGE: Table = {
  name: "model_usage",
  columns: {
    session_id: "TEXT NOT NULL",
    day: "TEXT NOT NULL",
    provider: "TEXT NOT NULL",
    model: "TEXT NOT NULL",
    ...TOKENS,
    calls: COUNT,
    cost_usd: "REAL",
  },
  constraints: ["PRIMARY KEY (session_id, day, provider, model)"],
};

const STATE_META: Table = {
  name: "state_meta",
  columns: { key: "TEXT PRIMARY KEY", value: "TEXT" },
};

export const TABLES: readonly Table[] = [
  SESSIONS,
  MESSAGES,
  TURNS,
  TURN_LEASES,
  TURN_DRAFTS,
  ROUTES,
  INBOUND_EVENTS,
  DELIVERIES,
  CRON_JOBS,
  CRON_RUNS,
  MODEL_USAGE,
  STATE_META,
];

/** Names are ours alone, so that an index of another version on the same columns is never taken for it. */
export const INDEXES: readonly string[] = [
  "INDEX IF NOT EXISTS ts_sessions_source ON sessions(source)",
  "INDEX IF NOT EXISTS ts_sessions_parent ON sessions(parent_session_id)",
  "INDEX IF NOT EXISTS ts_sessions_root ON sessions(root_id)",
  "INDEX IF NOT EXISTS ts_sessions_started ON sessions(started_at DESC)",
  "INDEX IF NOT EXISTS ts_sessions_active ON sessions(last_active_at DESC)",
  "UNIQUE INDEX IF NOT EXISTS ts_sessions_title ON sessions(title) WHERE title IS NOT NULL",
  "INDEX IF NOT EXISTS ts_messages_session ON messages(session_id, id)",
  "INDEX IF NOT EXISTS ts_messages_time ON messages(session_id, timestamp)",
  "UNIQUE INDEX IF NOT EXISTS ts_messages_key ON messages(session_id, client_key) WHERE client_key IS NOT NULL",
  "INDEX IF NOT EXISTS ts_deliveries_next ON deliveries(state, next_at)",
  "INDEX IF NOT EXISTS ts_turns_open ON turns(ended_at) WHERE ended_at IS NULL",
  "INDEX IF NOT EXISTS ts_drafts_turn ON turn_drafts(turn_id)",
  "INDEX IF NOT EXISTS ts_cron_next ON cron_jobs(next_run_at)",
];

export function createTableText(table: Table): string {
  const columns = Object.entries(table.columns).map(([name, type]) => `${name} ${type}`);
  return `CREATE TABLE ${table.name} (${[...columns, ...(table.constraints ?? [])].join(", ")})`;
}

/** SQLite's column affinity of a declared type (sqlite.org/datatype3.html §3.1). */
export function affinityOf(type: string): "INTEGER" | "TEXT" | "BLOB" | "REAL" | "NUMERIC" {
  const upper = type.toUpperCase();
  if (upper.includes("INT")) return "INTEGER";
  if (/CHAR|CLOB|TEXT/.test(upper)) return "TEXT";
  if (upper.includes("BLOB") || upper.trim() === "") return "BLOB";
  return /REAL|FLOA|DOUB/.test(upper) ? "REAL" : "NUMERIC";
}

/** The type alone: what stands before the first constraint word. */
export function typeOf(declaration: string): string {
  return declaration.split(" ")[0] ?? "";
}
