// The one typed union of events that the agent emits and every door renders (product.md D17, agent.md §4.2).
import type { MessageKind, Role, Usage } from "./messages.ts";
import type { ModelErrorKind } from "./model-errors.ts";

export type TurnState =
  | "idle"
  | "preparing"
  | "calling"
  | "tools"
  | "waiting-approval"
  | "waiting-answer"
  | "compressing"
  | "interrupting"
  | "finishing"
  | "failed";

export type ApprovalChoice = "once" | "session" | "always" | "deny";
export type TurnOutcome = "done" | "interrupted" | "failed" | "budget";
/** What a message that arrives during a turn does (agent.md §4.5). */
export type BusyMode = "interrupt" | "queue" | "steer";

/** Where a tool call of the running turn stands. */
export interface CallSnapshot {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: "waiting" | "running" | "ok" | "failed";
  /** Output so far, at most its last 16 KiB; empty before the start. */
  readonly output: string;
  readonly summary: string | null;
}

export interface ApprovalRequest {
  readonly requestId: string;
  readonly callId: string;
  /** What is asked for: `command`, `write`, `memory`, `mcp`, `cron`, … */
  readonly kind: string;
  readonly title: string;
  /** The exact command or change, redacted. */
  readonly detail: string;
  /** Id and reason of the rule that asks. */
  readonly rule: string;
  readonly choices: readonly ApprovalChoice[];
  /** ISO 8601 UTC: when no answer becomes "deny". */
  readonly expiresAt: string;
}

export interface ClarifyRequest {
  readonly requestId: string;
  readonly callId: string;
  readonly question: string;
  readonly choices: readonly string[];
  readonly expiresAt: string;
}

export interface QueueItem {
  readonly id: string;
  readonly text: string;
  readonly mode: BusyMode;
}

/** The running turn, folded: with the stored messages it rebuilds the whole view exactly once. */
export interface TurnSnapshot {
  readonly turnId: string;
  /** Text of the current model call that is not stored yet. */
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly CallSnapshot[];
  readonly pending: readonly (
    | ({ readonly type: "approval" } & ApprovalRequest)
    | ({ readonly type: "clarify" } & ClarifyRequest)
  )[];
  /** Highest id of the messages that this snapshot counts as stored; 0 when none. */
  readonly savedUpTo: number;
}

export interface TurnError {
  readonly kind: ModelErrorKind | "store" | "internal";
  readonly message: string;
  /** Stable word of ours where there is one (`STORE_FULL`, `MODEL_NOT_CONFIGURED`). */
  readonly code?: string;
}

export type AgentEventBody =
  | {
      readonly type: "snapshot";
      readonly state: TurnState;
      readonly turn: TurnSnapshot | null;
      readonly queue: readonly QueueItem[];
    }
  | {
      readonly type: "turn-start";
      readonly source: string;
      readonly userMessageId: number;
      readonly text: string;
      readonly provider: string;
      readonly model: string;
    }
  | { readonly type: "status"; readonly state: TurnState; readonly detail?: string }
  | {
      readonly type: "model-start";
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
    }
  | {
      readonly type: "model-end";
      readonly finishReason: string;
      readonly usage: Usage;
      readonly costUsd?: number;
      readonly durationMs: number;
    }
  | {
      readonly type: "model-retry";
      readonly attempt: number;
      readonly kind: ModelErrorKind;
      readonly message: string;
      readonly waitMs: number;
      /** True: text shown by the failed attempt is withdrawn. */
      readonly discardText: boolean;
      readonly fallback?: { readonly provider: string; readonly model: string };
    }
  | {
      readonly type: "text-delta" | "reasoning-delta";
      readonly blockId: string;
      readonly text: string;
    }
  | {
      readonly type: "tool-call";
      readonly callId: string;
      readonly name: string;
      readonly input: unknown;
      readonly index: number;
      readonly of: number;
    }
  | { readonly type: "tool-start"; readonly callId: string }
  | {
      readonly type: "tool-output";
      readonly callId: string;
      readonly stream: "stdout" | "stderr" | "progress";
      readonly text: string;
    }
  | {
      readonly type: "tool-end";
      readonly callId: string;
      readonly ok: boolean;
      readonly summary: string;
      readonly durationMs: number;
      readonly bytes: number;
      readonly truncated: boolean;
      readonly code?: string;
    }
  | ({ readonly type: "approval-request" } & ApprovalRequest)
  | {
      readonly type: "approval-end";
      readonly requestId: string;
      readonly choice: ApprovalChoice;
      /** Who decided: a surface, `timeout` or `interrupt`. */
      readonly by: string;
    }
  | ({ readonly type: "clarify-request" } & ClarifyRequest)
  | {
      readonly type: "clarify-end";
      readonly requestId: string;
      readonly answer: string | null;
      readonly reason: "answered" | "timeout" | "interrupted";
    }
  | {
      readonly type: "message-saved";
      readonly messageId: number;
      readonly role: Role;
      readonly kind: MessageKind | null;
    }
  | { readonly type: "compress-start"; readonly reason: string; readonly tokens: number }
  | {
      readonly type: "compress-end";
      readonly ok: boolean;
      readonly fromSessionId: string;
      readonly toSessionId: string;
      readonly before: number;
      readonly after: number;
      readonly code?: string;
    }
  | {
      readonly type: "session-change";
      readonly fromSessionId: string;
      readonly toSessionId: string;
      readonly reason: string;
    }
  | { readonly type: "title"; readonly title: string }
  | {
      readonly type: "notice";
      readonly level: "info" | "warning" | "error";
      readonly code: string;
      readonly text: string;
    }
  | { readonly type: "queue"; readonly items: readonly QueueItem[] }
  | {
      readonly type: "process-end";
      readonly processId: string;
      readonly exitCode: number | null;
      readonly tail: string;
    }
  | {
      readonly type: "turn-end";
      readonly outcome: TurnOutcome;
      readonly text: string;
      readonly messageId: number | null;
      readonly usage: Usage;
      readonly durationMs: number;
      readonly error?: TurnError;
    };

/** `seq` grows by one per session in the process that runs the turn; `at` is ISO 8601 UTC. */
export type AgentEvent = {
  readonly v: 1;
  readonly seq: number;
  readonly at: string;
  readonly sessionId: string;
  readonly turnId: string | null;
} & AgentEventBody;

export type EventType = AgentEventBody["type"];
export type EventOf<T extends EventType> = Extract<AgentEvent, { readonly type: T }>;
