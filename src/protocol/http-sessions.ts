// Stored sessions, search, logs and analytics (dashboard.md §11.3). Times are ISO 8601 UTC.
import type { MessageKind, Role, SessionActivity, ToolCall } from "./messages.ts";

export interface SessionBody {
  readonly id: string;
  readonly root_id: string;
  readonly parent_session_id: string | null;
  readonly source: string;
  readonly title: string | null;
  readonly title_source: "user" | "model" | "first-line" | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly cwd: string | null;
  readonly started_at: string;
  readonly last_active_at: string;
  readonly ended_at: string | null;
  readonly end_reason: string | null;
  readonly message_count: number;
  readonly tool_call_count: number;
  readonly api_call_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly estimated_cost: number | null;
  readonly state: SessionActivity;
  readonly archived: boolean;
  readonly pinned: boolean;
  /** Not ended and active in the last 300 s. */
  readonly is_active: boolean;
}

/** GET /api/sessions?limit=20&offset=0&source&archived&profile */
export interface SessionsBody {
  readonly sessions: readonly SessionBody[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** `snippet` marks the match with `>>>` and `<<<`. */
export interface SearchHitBody {
  readonly session_id: string;
  readonly root_id: string;
  readonly title: string | null;
  readonly message_id: number;
  readonly snippet: string;
  readonly role: Role;
  readonly source: string;
  readonly model: string | null;
  readonly session_started: string;
}

/** GET /api/sessions/search?q=&limit=20 */
export interface SearchBody {
  readonly results: readonly SearchHitBody[];
  readonly partial: boolean;
}

export interface SessionStatsBody {
  readonly sessions: number;
  readonly messages: number;
  readonly active: number;
  readonly by_source: Readonly<Record<string, number>>;
  readonly size_bytes: number;
}

export interface EmptyCountBody {
  readonly count: number;
}

/** Sessions that were left alone, and why (`running`, `not found`). */
export interface DeletedBody {
  readonly deleted: number;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

export interface BulkDeleteInput {
  readonly ids: readonly string[];
}

export interface PruneInput {
  readonly older_than_days: number;
  readonly source?: string;
}

/** POST /api/sessions/import: body `application/x-ndjson`, the lines of an export, at most 25 MiB. */
export interface ImportBody {
  readonly imported: number;
  readonly skipped: number;
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

export interface SessionPatchInput {
  readonly title?: string;
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

export interface MessageBody {
  readonly id: number;
  readonly session_id: string;
  readonly role: Role;
  readonly content: string | null;
  readonly tool_call_id: string | null;
  /** `arguments` is the JSON text as the model wrote it. */
  readonly tool_calls: readonly ToolCall[] | null;
  readonly tool_name: string | null;
  readonly timestamp: string;
  readonly token_count: number | null;
  readonly finish_reason: string | null;
  readonly reasoning: string | null;
  /** False: taken out of what the model sees (undo, compression). */
  readonly active: boolean;
  readonly kind: MessageKind | null;
  readonly turn_id: string | null;
  readonly client_message_id: string | null;
}

/** GET /api/sessions/{id}/messages?limit=200&offset=0&order=asc|desc&before=&after= (message ids, exclusive) */
export interface MessagesBody {
  readonly session_id: string;
  readonly messages: readonly MessageBody[];
  readonly pagination: {
    readonly limit: number;
    readonly offset: number;
    readonly order: "asc" | "desc";
    readonly total: number;
  };
}

export interface LatestDescendantBody {
  readonly requested_session_id: string;
  readonly session_id: string;
  /** From the requested one to the newest, both included. */
  readonly path: readonly string[];
  readonly changed: boolean;
}

/** 201 */
export interface ForkBody {
  readonly session_id: string;
}

export const LOG_FILES = ["agent", "errors", "gateway", "gui", "dashboard-auth", "boot"] as const;
export type LogFile = (typeof LOG_FILES)[number];

/** GET /api/logs?file=agent&lines=100&level&component&search&profile. Lines as they stand in the file, redacted, oldest first. */
export interface LogsBody {
  readonly file: LogFile;
  readonly lines: readonly string[];
}

/** GET /api/analytics/usage?days=30. Costs are US dollars; null where no price is known. */
export interface UsageBody {
  readonly daily: readonly {
    readonly day: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cache_read_tokens: number;
    readonly reasoning_tokens: number;
    readonly estimated_cost: number | null;
    readonly actual_cost: number | null;
    readonly sessions: number;
    readonly api_calls: number;
  }[];
  readonly by_model: readonly {
    readonly model: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly estimated_cost: number | null;
    readonly sessions: number;
    readonly api_calls: number;
  }[];
  readonly totals: {
    readonly total_input: number;
    readonly total_output: number;
    readonly total_cache_read: number;
    readonly total_reasoning: number;
    readonly total_estimated_cost: number | null;
    readonly total_actual_cost: number | null;
    readonly total_sessions: number;
    readonly total_api_calls: number;
  };
  readonly period_days: number;
  readonly skills: {
    readonly summary: {
      readonly total_skill_loads: number;
      readonly total_skill_edits: number;
      readonly total_skill_actions: number;
      readonly distinct_skills_used: number;
    };
    readonly top_skills: readonly {
      readonly skill: string;
      readonly view_count: number;
      readonly manage_count: number;
      readonly total_count: number;
      readonly percentage: number;
      readonly last_used_at: string | null;
    }[];
  };
}

/** GET /api/analytics/models?days=30 */
export interface ModelUsageBody {
  readonly models: readonly {
    readonly model: string;
    readonly provider: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cache_read_tokens: number;
    readonly reasoning_tokens: number;
    readonly estimated_cost: number | null;
    readonly actual_cost: number | null;
    readonly sessions: number;
    readonly api_calls: number;
    readonly tool_calls: number;
    readonly last_used_at: string | null;
    readonly avg_tokens_per_session: number;
    readonly capabilities: Readonly<Record<string, unknown>>;
  }[];
  readonly totals: {
    readonly distinct_models: number;
    readonly total_input: number;
    readonly total_output: number;
    readonly total_estimated_cost: number | null;
    readonly total_sessions: number;
    readonly total_api_calls: number;
  };
  readonly period_days: number;
}
