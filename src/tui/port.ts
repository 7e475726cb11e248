// What the interface is handed by cli: a conversation as commands out and updates in (architecture.md, room tui).
import type { ExitCode } from "#base/exit-codes.ts";
import type {
  AgentEvent,
  ApprovalChoice,
  ApprovalRequest,
  ClarifyRequest,
} from "#protocol/events.ts";

export type Tone = "dim" | "bold" | "red" | "yellow" | "cyan" | "green";

export const TOOL_PROGRESS = ["off", "new", "all", "verbose"] as const;
export type ToolProgress = (typeof TOOL_PROGRESS)[number];

export type Question =
  | ({ readonly type: "approval" } & ApprovalRequest)
  | ({ readonly type: "clarify" } & ClarifyRequest);

export type Answer =
  | { readonly type: "approval"; readonly choice: ApprovalChoice }
  | { readonly type: "clarify"; readonly answer: string };

/** A row of the resume picker. */
export interface PickerRow {
  readonly id: string;
  readonly title: string;
  /** Date, source and number of messages, ready to show. */
  readonly about: string;
}

/** What the status bar shows; null: not known yet. */
export interface Status {
  /** `provider:model`, or DEMO. */
  readonly model: string | null;
  readonly isDemo: boolean;
  /** Tokens of the last request and of the model's window; 0 is unknown. */
  readonly used: number;
  readonly window: number;
}

/** Turns streamed text into what is shown, with colours; the same shape as the REPL's. */
export interface TextFilter {
  push(text: string): string;
  flush(): string;
  reset(): void;
}

export interface DoorSettings {
  /** Newest first. */
  readonly history: readonly string[];
  readonly toolProgress: ToolProgress;
  readonly showReasoning: boolean;
  readonly textFilter: TextFilter;
}

/** The conversation once it is open. Nothing here throws or rejects: what goes wrong arrives as an update. */
export interface Door {
  readonly settings: DoorSettings;
  /** One typed message, `/command` or `!command`. */
  submit(text: string): void;
  answer(requestId: string, answer: Answer): void;
  /** Opens what is to be gone on with. Called once, before any message; until it resolves messages wait. */
  begin(): Promise<void>;
  /** Interrupts what runs, and says what that was. */
  interrupt(): "turn" | "command" | "nothing";
  /** Goes on with another session. */
  resume(sessionId: string): void;
  /** Whole words that could stand for the path that `word` begins. */
  completePath(word: string): readonly string[];
  /** Ends what runs; afterwards the interface closes. Resolves with the id of the session, null when there was none. */
  leave(): Promise<string | null>;
}

export type Update =
  | { readonly type: "event"; readonly event: AgentEvent }
  | { readonly type: "line"; readonly tone: Tone; readonly text: string }
  /** Text as it is, on lines of its own. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "said"; readonly text: string }
  | { readonly type: "status"; readonly status: Status }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "question-gone"; readonly requestId: string }
  /** A command of the user's own runs or has ended. */
  | { readonly type: "busy"; readonly isBusy: boolean }
  | { readonly type: "tool-progress"; readonly mode: ToolProgress }
  | { readonly type: "pick"; readonly rows: readonly PickerRow[] }
  /** Another session: what belonged to the old one is off the live area. */
  | { readonly type: "switched" };

/** What the conversation sees of the interface. */
export interface Face {
  update(update: Update): void;
  /** Closes the interface as `/quit` does. */
  leave(code: ExitCode): void;
}

export interface TuiOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly version: string;
  readonly profile: string;
  /** False: NO_COLOR. */
  readonly colours: boolean;
  /** Called after the first frame; its error closes the interface and is thrown by `ended`. */
  connect(face: Face): Promise<Door>;
}

export interface Tui extends Face {
  /** Ctrl-C from outside. */
  interrupt(): void;
  readonly ended: Promise<ExitCode>;
}
