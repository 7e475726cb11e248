// What a door sees of the one application service: a conversation end to end.
import type {
  AgentEvent,
  ApprovalChoice,
  ApprovalRequest,
  BusyMode,
  ClarifyRequest,
  TurnError,
  TurnState,
} from "#protocol/events.ts";
import type { ExitCode } from "#base/exit-codes.ts";
import type { SessionRow, Usage } from "#protocol/messages.ts";

export interface StartOptions {
  readonly source: string;
  readonly title?: string;
  readonly cwd?: string;
  /** This session only; otherwise what the configuration says. */
  readonly model?: string;
  readonly provider?: string;
  readonly userId?: string;
  /** System text of the caller, put after ours and kept with the session (agent.md §7.9). */
  readonly instructions?: string;
  /** What was said before; the caller's own record of it counts. */
  readonly history?: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
}

export interface SendOptions {
  readonly text: string;
  /** Idempotency key: the same key again gives the same answer and starts nothing. */
  readonly clientKey?: string;
  /** Without it a busy session answers SESSION_BUSY. */
  readonly whenBusy?: BusyMode;
  /** Who speaks: named to others while the turn runs. */
  readonly surface: string;
  /** Whether somebody at this surface can answer approvals and questions. */
  readonly answerable: boolean;
  /** Wall clock for the turn; 0 or absent: the configuration's. */
  readonly runBudgetMs?: number;
  /** A retry: this row and all after it are taken out of the conversation right before the text is stored. */
  readonly replaces?: number;
}

export type SendResult =
  | { readonly status: "started"; readonly turnId: string; readonly messageId: number }
  | {
      readonly status: "queued";
      readonly turnId: null;
      readonly messageId: null;
      readonly queueId: string;
    }
  | { readonly status: "steered"; readonly turnId: string; readonly messageId: null };

export interface SessionState {
  readonly sessionId: string;
  readonly status: "idle" | "running" | "waiting";
  readonly state: TurnState;
  /** The surface that runs the turn, here or in another process. */
  readonly holder: string | null;
  readonly turnId: string | null;
  readonly pending: {
    readonly approvals: readonly ApprovalRequest[];
    readonly clarify: readonly ClarifyRequest[];
  };
  /** `<run>.<seq>` of the last event. */
  readonly lastEventId: string;
  readonly provider: string | null;
  readonly model: string | null;
  /** Tokens used by the last request (0 before the first) and the window. */
  readonly context: { readonly used: number; readonly window: number };
}

/** `id` is `<run>.<seq>`: `run` names the process life, so an id of another life is recognised. */
export interface NumberedEvent {
  readonly id: string;
  readonly event: AgentEvent;
}

export interface Subscription {
  close(): void;
}

/** How a turn ended, for doors that only want the answer. */
export interface TurnResult {
  readonly outcome: "done" | "interrupted" | "failed" | "budget";
  readonly text: string;
  readonly messageId: number | null;
  /** What `chat -q` exits with. `budget` is 124 only where the wall clock ended it, 0 at the cap of rounds. */
  readonly exit: ExitCode;
  readonly error: TurnError | null;
  readonly usage: Usage;
  readonly apiCalls: number;
  readonly costUsd: number | null;
  /** Where the conversation went on (a compression makes a child session). */
  readonly sessionId: string;
  readonly provider: string | null;
  readonly model: string | null;
}

export type AnswerResult =
  | { readonly ok: true }
  /** Already decided, with what was chosen. */
  | { readonly ok: false; readonly reason: "decided"; readonly choice: string }
  | { readonly ok: false; readonly reason: "unknown" };

/**
 * Conversations of one home. Every door (REPL, TUI, browser, gateway) calls this and nothing below it.
 * Errors are HermesError: `SESSION_NOT_FOUND`, `SESSION_BUSY` (data.holder), `MODEL_NOT_CONFIGURED`, `MESSAGE_TOO_LARGE`,
 * `STORE_*`, `QUEUE_FULL`, `NOTHING_TO_RETRY`.
 */
export interface SessionService {
  /** Makes a session row. The model is checked here: without a usable one it throws MODEL_NOT_CONFIGURED. */
  start(options: StartOptions): Promise<SessionRow>;
  /** Id, unique prefix, title or `latest`, followed to the newest descendant. Ambiguous: `SESSION_AMBIGUOUS` with data.candidates. */
  resolve(ref: string): Promise<SessionRow>;
  /** Newest visible session of this working directory, else newest; with a title: newest of its lineage. null when none. */
  latest(options: { readonly cwd: string; readonly title?: string }): Promise<SessionRow | null>;
  state(sessionId: string): Promise<SessionState>;
  /** Starts a turn and returns at once; the turn outlives whoever started it. */
  send(sessionId: string, options: SendOptions): Promise<SendResult>;
  /** Resolves when no turn of this process runs in the session and its queue is empty. */
  settled(sessionId: string): Promise<TurnResult | null>;
  /** Aborts the running turn; false when none runs here. The queue is kept. */
  stop(sessionId: string): Promise<boolean>;
  answerApproval(
    sessionId: string,
    requestId: string,
    choice: ApprovalChoice,
    by: string,
  ): Promise<AnswerResult>;
  answerClarify(
    sessionId: string,
    requestId: string,
    answer: string,
    by: string,
  ): Promise<AnswerResult>;
  /**
   * Calls `listener` for every later event, in order. `after` given and still kept: each event after it once, then live.
   * Otherwise `snapshot` first. A session that another process runs is followed through the store: `message-saved` ≤ 1 s late.
   */
  subscribe(
    sessionId: string,
    after: string | null,
    listener: (event: NumberedEvent) => void,
  ): Promise<Subscription>;
  /** Takes the last exchange out of what the model sees. Returns how many rows. */
  undo(sessionId: string): Promise<number>;
  /** Undo of the last answer and the same user text again. */
  retry(sessionId: string, options: Omit<SendOptions, "text">): Promise<SendResult>;
  compress(
    sessionId: string,
    focus?: string,
  ): Promise<{ readonly ok: boolean; readonly sessionId: string }>;
  rename(sessionId: string, title: string): Promise<SessionRow>;
  setModel(
    sessionId: string,
    choice: { readonly provider?: string; readonly model: string },
  ): Promise<SessionRow>;
  setEffort(sessionId: string, effort: string): Promise<void>;
  /** Skips approvals in this session, never the hard block list nor approvals.deny. Returns the new value. */
  setYolo(sessionId: string, on: boolean): Promise<boolean>;
  /** Takes one waiting message out of the queue. */
  unqueue(sessionId: string, queueId: string): Promise<boolean>;
  /** Aborts every turn, saves what was shown, ends child processes. ≤ 3 s. */
  close(reason: "shutdown" | "done"): Promise<void>;
}
