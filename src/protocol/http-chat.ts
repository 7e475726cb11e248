// Chat and first run (dashboard.md §9.3, §11.3). Events are the union of events.ts, unchanged.
import type {
  ApprovalChoice,
  ApprovalRequest,
  BusyMode,
  ClarifyRequest,
  TurnState,
} from "./events.ts";

/** POST /api/chat/sessions. `resume`: id, unique prefix, title or `latest` of an existing session. */
export interface StartChatInput {
  readonly profile?: string;
  readonly title?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly resume?: string;
}

/** 201 */
export interface StartChatBody {
  readonly session_id: string;
}

/** GET /api/chat/sessions/{id}. The keys of a pending request are those of the events. */
export interface ChatStateBody {
  readonly session_id: string;
  readonly status: "idle" | "running" | "waiting";
  /** Finer than `status`: the loop's own state. */
  readonly state: TurnState;
  readonly holder: string | null;
  readonly turn_id: string | null;
  readonly pending: {
    readonly approvals: readonly ApprovalRequest[];
    readonly clarify: readonly ClarifyRequest[];
  };
  /** `<run>.<seq>` */
  readonly last_event_id: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly context: { readonly used: number; readonly window: number };
}

/** POST /api/chat/sessions/{id}/messages. The same `client_message_id` again gives the same answer. */
export interface SendMessageInput {
  /** At most 256 KiB. */
  readonly text: string;
  /** Ids of POST /api/chat/attachments. */
  readonly attachments?: readonly string[];
  /** 8 to 128 of letters, digits, `.`, `_`, `-`. */
  readonly client_message_id: string;
  readonly when_busy?: BusyMode;
  /**
   * Id of a text of the user in this session: it and all after it are taken out right before the new one is stored.
   * Only while nothing runs, so never with `when_busy`.
   */
  readonly replaces?: number;
}

/** 202 */
export interface SendMessageBody {
  /** null while queued. */
  readonly turn_id: string | null;
  /** null while queued, and when it was added to the running turn. */
  readonly message_id: number | null;
  readonly status: "started" | "queued" | "steered";
  /** Only when queued: names it for POST …/unqueue. */
  readonly queue_id?: string;
}

export interface StopBody {
  readonly stopped: boolean;
}

export interface ApprovalInput {
  readonly choice: ApprovalChoice;
}

export interface ClarifyInput {
  readonly answer: string;
}

/** POST …/retry: a new turn with the last user text. */
export interface RetryInput {
  readonly client_message_id: string;
}

/** 202 */
export interface RetryBody {
  readonly ok: true;
  readonly turn_id: string | null;
  readonly message_id: number | null;
}

export interface UndoBody {
  readonly ok: true;
  /** Rows taken out of what the model sees. */
  readonly removed: number;
}

export interface CompressInput {
  readonly focus?: string;
}

export interface CompressBody {
  readonly ok: boolean;
  /** Where the conversation goes on: a child after a compression. */
  readonly session_id: string;
}

export interface UnqueueInput {
  readonly queue_id: string;
}

/** PATCH /api/chat/sessions/{id}: what the slash commands change for this session only. */
export interface ChatSettingsInput {
  readonly model?: string;
  readonly provider?: string;
  readonly effort?: string;
  readonly yolo?: boolean;
}

/**
 * POST /api/chat/attachments: raw body with the file's own Content-Type and its name, percent-encoded as UTF-8, in
 * `X-File-Name`. 201; at most 25 MiB; kept 24 h unless used.
 */
export interface AttachmentBody {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly mime: string;
}

export interface LocalServerBody {
  readonly kind: "ollama" | "lmstudio" | "llamacpp";
  readonly base_url: string;
  readonly models: readonly string[];
}

/** GET /api/setup. `local_servers` is what the last look found; POST /api/setup/detect looks again. */
export interface SetupBody {
  readonly model_ready: boolean;
  readonly reason: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly local_servers: readonly LocalServerBody[];
  readonly demo_available: true;
}

export interface DetectBody {
  readonly local_servers: readonly LocalServerBody[];
}

/** POST /api/setup/model: tested with one tiny request, saved only when that worked. */
export interface SetupModelInput {
  readonly provider: string;
  readonly model?: string;
  readonly api_key?: string;
  readonly base_url?: string;
}

export interface SetupModelBody {
  readonly ok: true;
  readonly model: string;
  readonly provider: string;
  readonly context_window: number;
  readonly latency_ms: number;
}
