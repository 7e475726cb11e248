// Port to the store of sessions (agent.md §6). SQLite is the first implementation, PostgreSQL can be the second.
// Times are seconds since 1970 with fraction, as in the columns.
import type { ProcessIdentity } from "#base/process-identity.ts";
import type {
  MessageKind,
  Role,
  SearchHit,
  SearchResult,
  SessionActivity,
  SessionRow,
  StoredMessage,
  ToolCall,
  Usage,
} from "#protocol/messages.ts";
import type { TurnOutcome } from "#protocol/events.ts";
import type { ModelErrorKind } from "#protocol/model-errors.ts";

export interface NewSession {
  readonly id: string;
  readonly source: string;
  readonly model?: string | null;
  readonly modelConfig?: Readonly<Record<string, unknown>>;
  readonly title?: string | null;
  readonly titleSource?: SessionRow["titleSource"];
  readonly cwd?: string | null;
  readonly userId?: string | null;
  readonly sessionKey?: string | null;
  readonly parentSessionId?: string | null;
  /** Now, by the caller's clock. */
  readonly startedAt: number;
}

/** Fields left out stay as they are. */
export interface SessionPatch {
  readonly model?: string | null;
  readonly modelConfig?: Readonly<Record<string, unknown>>;
  readonly systemPrompt?: string | null;
  readonly toolsHash?: string | null;
  readonly cwd?: string | null;
  readonly title?: string | null;
  readonly titleSource?: SessionRow["titleSource"];
  readonly state?: SessionActivity;
  readonly hidden?: boolean;
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

export interface SessionFilter {
  /** Only this source. Without it hidden sources (HIDDEN_SOURCES) are left out. */
  readonly source?: string;
  readonly cwd?: string;
  /** Default false: archived sessions are left out. */
  readonly archived?: boolean;
  /** Include hidden sources and rows marked hidden. */
  readonly all?: boolean;
  readonly limit: number;
  readonly offset: number;
}

export type SessionResolution =
  | { readonly found: "one"; readonly session: SessionRow }
  | { readonly found: "many"; readonly candidates: readonly SessionRow[] }
  | { readonly found: "none" };

export interface NewMessage {
  readonly role: Role;
  readonly content: string | null;
  readonly toolCallId?: string | null;
  readonly toolCalls?: readonly ToolCall[] | null;
  readonly toolName?: string | null;
  readonly timestamp: number;
  readonly tokenCount?: number | null;
  readonly finishReason?: string | null;
  readonly reasoning?: string | null;
  readonly reasoningDetails?: unknown;
  readonly kind?: MessageKind | null;
  readonly turnId?: string | null;
  readonly platformMessageId?: string | null;
  /** Idempotency key within the session: the same key again returns the first row's id and writes nothing. */
  readonly clientKey?: string | null;
}

export interface MessagePage {
  /** In the order asked for. */
  readonly messages: readonly StoredMessage[];
  readonly total: number;
}

/** Who runs the turn of a session. */
export interface LeaseOwner extends ProcessIdentity {
  /** `cli`, `tui`, `web`, a platform, …: named in SESSION_BUSY. */
  readonly surface: string;
}

export type LeaseAttempt =
  | { readonly taken: true }
  | { readonly taken: false; readonly holder: LeaseOwner };

export interface TurnRow {
  readonly turnId: string;
  readonly sessionId: string;
  readonly surface: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: TurnOutcome | "lost" | null;
  readonly owner: ProcessIdentity;
}

/** What the model sees of a session, repaired by I5. */
export interface ModelHistory {
  readonly messages: readonly StoredMessage[];
  /** Ids of tool calls that had no result and were answered with "outcome unknown"; they are never run again. */
  readonly repairedCalls: readonly string[];
}

export interface DailyUsage {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly usage: Usage;
  readonly calls: number;
  readonly sessions: number;
  readonly costUsd: number | null;
}

export interface ModelUsage {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly calls: number;
  readonly sessions: number;
  readonly toolCalls: number;
  readonly costUsd: number | null;
  readonly lastUsedAt: number;
}

export interface StoreStats {
  readonly sessions: number;
  readonly messages: number;
  readonly bySource: Readonly<Record<string, number>>;
  readonly sizeBytes: number;
}

export interface StorePing {
  readonly ok: boolean;
  /** `STORE_BUSY`, `STORE_CORRUPT`, … when not ok. */
  readonly code: string | null;
  readonly total: number;
}

export interface InboundEvent {
  readonly platform: string;
  readonly eventId: string;
  /** JSON, as it is kept. */
  readonly event: string;
  /** `queued` is dispatched again after a crash, `done` is only remembered. */
  readonly state: "queued" | "done";
  /** Seconds since 1970. */
  readonly now: number;
  readonly forgetBefore: number;
}

export interface CompressionStep {
  readonly parentId: string;
  readonly child: NewSession;
  /** System prompt and tool hash of the child are unset: they are made anew at its first call. */
  readonly messages: readonly NewMessage[];
}

export interface ImportReport {
  readonly imported: number;
  readonly skipped: number;
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Every method waits for a busy store up to its limit (20 s, 60 s for transcript rows) and then throws HermesError
 * `STORE_BUSY`; a full disk is `STORE_FULL`, a damaged file `STORE_CORRUPT`, an unknown session `SESSION_NOT_FOUND`.
 * None returns half a result: a write is one transaction or nothing.
 */
export interface SessionStore {
  close(): Promise<void>;
  /** ≤ 50 ms, takes no write lock: for status. */
  ping(): Promise<StorePing>;
  /** A token that changes when any process wrote; compare with the one from before. */
  changeToken(): Promise<string>;

  createSession(input: NewSession): Promise<SessionRow>;
  getSession(id: string): Promise<SessionRow | null>;
  /** Exact id, then unique id prefix, then exact title, then `latest` (newest visible). */
  resolveSession(ref: string): Promise<SessionResolution>;
  listSessions(filter: SessionFilter): Promise<{ sessions: readonly SessionRow[]; total: number }>;
  /** A taken title throws `TITLE_TAKEN`. */
  updateSession(id: string, patch: SessionPatch): Promise<SessionRow>;
  endSession(id: string, reason: string, endedAt: number): Promise<void>;
  /** With its messages. Throws `SESSION_BUSY` while a live owner holds its lease. */
  deleteSession(id: string): Promise<void>;
  /** The newest descendant (itself without children) and the path to it, oldest first. Cycle-safe. */
  newestDescendant(id: string): Promise<{ session: SessionRow; path: readonly string[] }>;
  /** Every session of the same root, oldest first. */
  lineage(id: string): Promise<readonly SessionRow[]>;
  /** Sessions not ended and active since then. */
  countActive(since: number): Promise<number>;

  /** All in one transaction, in order; returns their ids. Also moves last_active_at and the counters. */
  appendMessages(sessionId: string, messages: readonly NewMessage[]): Promise<readonly number[]>;
  readMessages(
    sessionId: string,
    page: {
      readonly limit: number;
      readonly offset?: number;
      /** Only rows with a smaller / greater id. */
      readonly before?: number;
      readonly after?: number;
      readonly order: "asc" | "desc";
    },
  ): Promise<MessagePage>;
  /** The active rows in order. Unanswered tool calls are answered in the store first (I5), in one transaction. */
  loadHistory(sessionId: string): Promise<ModelHistory>;
  /** Takes this message and all later ones out of what the model sees (`undo`). Returns how many. */
  deactivateFrom(sessionId: string, messageId: number): Promise<number>;
  /** Ends the parent as `compressed`, makes its child with these messages and moves the parent's lease to it, in one transaction. */
  compress(step: CompressionStep): Promise<SessionRow>;

  /** A lease of a dead owner, or one that ran out, is taken over. */
  takeLease(
    sessionId: string,
    lease: {
      readonly turnId: string;
      readonly owner: LeaseOwner;
      readonly now: number;
      readonly ttlSeconds: number;
    },
  ): Promise<LeaseAttempt>;
  /** False when the lease is no longer ours. */
  renewLease(sessionId: string, turnId: string, expiresAt: number): Promise<boolean>;
  dropLease(sessionId: string, turnId: string): Promise<void>;
  leaseOf(sessionId: string, now: number): Promise<LeaseOwner | null>;
  openTurn(turn: {
    readonly turnId: string;
    readonly sessionId: string;
    readonly surface: string;
    readonly provider: string;
    readonly model: string;
    readonly startedAt: number;
    readonly owner: ProcessIdentity;
  }): Promise<void>;
  /** Final rows, the turn row and the session's state, in one transaction. Returns the ids of `messages`. */
  closeTurn(end: {
    readonly turnId: string;
    readonly sessionId: string;
    readonly outcome: TurnOutcome;
    readonly errorKind: ModelErrorKind | "store" | "internal" | null;
    readonly endedAt: number;
    readonly messages: readonly NewMessage[];
    readonly state: SessionActivity;
  }): Promise<readonly number[]>;
  /**
   * Keeps text of an answer that is being shown and whose row does not exist yet. The loop awaits this before it emits
   * the `text-delta`, so that a kill -9 loses nothing that was shown. One small insert per delta. The draft of a turn
   * is dropped with the next assistant row of that turn, by `closeTurn`, or by `clearDraft` (withdrawn text).
   */
  appendDraft(draft: {
    readonly turnId: string;
    readonly sessionId: string;
    readonly text: string;
  }): Promise<void>;
  clearDraft(turnId: string): Promise<void>;
  /**
   * Marks turns that dead owners left open as `lost` and their sessions `interrupted`. A draft that such a turn left
   * becomes its assistant row with finish_reason `interrupted`. All in one transaction. Returns the turns.
   */
  recoverLostTurns(now: number): Promise<readonly TurnRow[]>;

  /** Newest first, one hit per lineage. Rules of agent.md §6.5. */
  search(
    query: string,
    options: { readonly limit: number; readonly source?: string; readonly all?: boolean },
  ): Promise<SearchResult>;
  recentHits(limit: number): Promise<readonly SearchHit[]>;
  /** The message with up to `around` rows on each side. */
  neighbours(messageId: number, around: number): Promise<readonly StoredMessage[]>;

  addUsage(entry: {
    readonly sessionId: string;
    readonly provider: string;
    readonly model: string;
    readonly usage: Usage;
    readonly costUsd: number | null;
    readonly at: number;
  }): Promise<void>;
  usageByDay(since: number): Promise<readonly DailyUsage[]>;
  usageByModel(since: number): Promise<readonly ModelUsage[]>;
  stats(): Promise<StoreStats>;
  /**
   * Notes an event of the outside world. False: one of this id was noted since `forgetBefore`. Settled ones of the platform
   * that are older are forgotten.
   */
  recordInbound(event: InboundEvent): Promise<boolean>;
  /** As if it had never come: for one that could not be taken after all. */
  forgetInbound(platform: string, eventId: string): Promise<void>;
  getMeta(key: string): Promise<string | null>;
  setMeta(key: string, value: string): Promise<void>;

  /** Ended or inactive sessions older than this; never pinned or leased ones. With `dryRun` nothing is deleted. */
  prune(options: {
    readonly olderThan: number;
    readonly source?: string;
    readonly dryRun: boolean;
  }): Promise<readonly SessionRow[]>;
  /** Empty sessions that nobody holds. */
  deleteEmpty(options: { readonly dryRun: boolean }): Promise<number>;
  optimise(): Promise<void>;
  /** Problems found, empty when sound. Reads only. */
  check(): Promise<readonly string[]>;
  backup(path: string): Promise<void>;
  /** JSON lines: `{"type":"session",…}` then `{"type":"message",…}` for each. All sessions when `ids` is empty. */
  exportLines(ids: readonly string[]): AsyncIterable<string>;
  /** Idempotent: same id and message count is skipped, a clash gets a new id. A bad line throws `IMPORT_INVALID` with its number and imports nothing of that session. */
  importLines(lines: AsyncIterable<string>): Promise<ImportReport>;
}
