// The conversation behind the Ink interface: typed commands in, events and lines out.
import { HermesError } from "#base/errors.ts";
import type { AgentEvent, ApprovalChoice } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { Answer, Door, DoorSettings, Face as TuiScreen, Status, Tone } from "#tui/port.ts";
import type { Style } from "../io.ts";
import { localMinute } from "../session-lines.ts";
import { completePath } from "./complete-path.ts";
import { Conversation, type ConversationDeps, type Face } from "./conversation.ts";
import type { ModelName } from "./conversation-deps.ts";
import { TOOL_PROGRESS, type ToolProgress } from "./screen.ts";
import type { ShellQuestion } from "./shell-command.ts";

export interface TuiFaceDeps extends ConversationDeps {
  readonly settings: DoorSettings;
  /** The session to go on with; null: one is made at the first message. */
  readonly session: SessionRow | null;
  readonly firstMessage: string | null;
  /** Throws MODEL_NOT_CONFIGURED and kin. */
  modelOf(session: SessionRow | null): ModelName;
}

export class TuiFace implements Face, Door {
  readonly surface = "tui";
  readonly settings: DoorSettings;
  readonly #deps: TuiFaceDeps;
  readonly #screen: TuiScreen;
  readonly #conversation: Conversation;
  #toolProgress: ToolProgress;
  /** The open approval of `!CMD`. */
  #asked: { readonly id: string; answer(choice: ApprovalChoice): void } | null = null;
  #askedCount = 0;

  constructor(deps: TuiFaceDeps, screen: TuiScreen) {
    this.#deps = deps;
    this.#screen = screen;
    this.settings = deps.settings;
    this.#toolProgress = deps.settings.toolProgress;
    this.#conversation = new Conversation(deps, this);
  }

  async begin(): Promise<void> {
    const { session, firstMessage } = this.#deps;
    await this.#showStatus();
    if (session) await this.#conversation.guard(() => this.#conversation.switchTo(session));
    if (firstMessage !== null) this.submit(firstMessage);
  }

  submit(text: string): void {
    if (/^[/!]/.test(text)) this.#screen.update({ type: "said", text });
    void this.#conversation.guard(() => this.#conversation.submit(text));
  }

  answer(requestId: string, answer: Answer): void {
    if (this.#asked?.id === requestId && answer.type === "approval") {
      return this.#asked.answer(answer.choice);
    }
    void this.#conversation.guard(() =>
      answer.type === "approval"
        ? this.#conversation.answerApproval(requestId, answer.choice)
        : this.#conversation.answerClarify(requestId, answer.answer),
    );
  }

  interrupt(): "turn" | "command" | "nothing" {
    const what = this.#conversation.isShellRunning ? "command" : "turn";
    this.#asked?.answer("deny");
    return this.#conversation.interrupt() ? what : "nothing";
  }

  resume(sessionId: string): void {
    void this.#conversation.guard(async () => {
      if (this.#conversation.running) {
        throw new HermesError("BUSY", "The turn still runs; /stop interrupts it.");
      }
      await this.#conversation.switchTo(await this.#conversation.sessions.resolve(sessionId));
    });
  }

  completePath(word: string): readonly string[] {
    return completePath(word);
  }

  async leave(): Promise<string | null> {
    this.#asked?.answer("deny");
    await this.#conversation.leave();
    return this.#conversation.sessionId;
  }

  say(text: string, style: Style = "dim"): void {
    this.#screen.update({ type: "line", tone: toneOf(style), text });
  }

  show(text: string): void {
    this.#screen.update({ type: "text", text });
  }

  event(event: AgentEvent): void {
    this.#screen.update({ type: "event", event });
    if (event.type === "snapshot" || event.type === "model-end" || event.type === "turn-end") {
      void this.#showStatus();
    }
  }

  started(): void {
    this.#screen.update({ type: "busy", isBusy: true });
  }

  settled(): void {
    this.#screen.update({ type: "busy", isBusy: this.#conversation.isShellRunning });
    void this.#showStatus();
  }

  switched(): void {
    this.#screen.update({ type: "switched" });
  }

  steered(text: string): void {
    this.#screen.update({ type: "said", text: `(meanwhile) ${text}` });
  }

  async ask(question: ShellQuestion): Promise<ApprovalChoice> {
    const requestId = `shell-${++this.#askedCount}`;
    const fields = { requestId, callId: "", kind: "command", expiresAt: "" };
    this.#screen.update({
      type: "question",
      question: { type: "approval", ...fields, ...question },
    });
    const choice = await new Promise<ApprovalChoice>((resolve) => {
      this.#asked = { id: requestId, answer: resolve };
    });
    this.#asked = null;
    this.#screen.update({ type: "question-gone", requestId });
    return choice;
  }

  readonly pick = (sessions: readonly SessionRow[]): void => {
    const rows = sessions.map((row) => ({
      id: row.id,
      title: row.title ?? "",
      about: `${localMinute(row.lastActiveAt)} · ${row.source} · ${row.messageCount} messages`,
    }));
    this.#screen.update({ type: "pick", rows });
  };

  toolProgress(mode: ToolProgress | null): ToolProgress {
    const at = TOOL_PROGRESS.indexOf(this.#toolProgress);
    this.#toolProgress = mode ?? TOOL_PROGRESS[(at + 1) % TOOL_PROGRESS.length] ?? "all";
    this.#screen.update({ type: "tool-progress", mode: this.#toolProgress });
    return this.#toolProgress;
  }

  quit(): void {
    this.#screen.leave(0);
  }

  /** Model and tokens from the session itself; a session that is gone shows what the next one would have. */
  async #showStatus(): Promise<void> {
    const { sessionId, session, sessions } = this.#conversation;
    const state = sessionId === null ? null : await sessions.state(sessionId).catch(() => null);
    const status: Status = {
      ...this.#model(session),
      used: state?.context.used ?? 0,
      window: state?.context.window ?? 0,
    };
    this.#screen.update({ type: "status", status });
  }

  #model(session: SessionRow | null): Pick<Status, "model" | "isDemo"> {
    try {
      const { provider, model, isDemo } = this.#deps.modelOf(session);
      return { model: `${provider}:${model}`, isDemo };
    } catch {
      return { model: null, isDemo: false };
    }
  }
}

function toneOf(style: Style): Tone {
  return style === "red" || style === "yellow" || style === "bold" || style === "cyan"
    ? style
    : "dim";
}
