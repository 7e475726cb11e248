// What a running tool is handed: its directory, an abort signal, live output, and a way to ask.
import type { StreamRedactor } from "./ports/redactor.ts";
import type { Question, ToolContext } from "./ports/tool.ts";
import { showState, type Turn } from "./turn.ts";
import { within } from "./within.ts";

type Stream = Parameters<ToolContext["output"]>[0];

export interface LiveCall {
  readonly context: ToolContext;
  /** Shows what was held back. Later output is dropped: a call that ended has nothing more to say. */
  close(): void;
}

export function openToolContext(turn: Turn, callId: string): LiveCall {
  const { deps, input } = turn;
  const output = new LiveOutput(turn, callId);
  const context: ToolContext = {
    sessionId: turn.session.id,
    turnId: input.turnId,
    callId,
    get cwd() {
      return deps.memory.cwd;
    },
    setCwd: (path) => {
      deps.memory.cwd = path;
    },
    signal: turn.stop.signal,
    clock: deps.clock,
    output: (stream, text) => output.push(stream, text),
    ask: (question) => askUser(turn, callId, question),
    unattended: !input.answerable,
  };
  return { context, close: () => output.close() };
}

class LiveOutput {
  readonly #turn: Turn;
  readonly #callId: string;
  readonly #streams = new Map<Stream, StreamRedactor>();
  #closed = false;

  constructor(turn: Turn, callId: string) {
    this.#turn = turn;
    this.#callId = callId;
  }

  push(stream: Stream, text: string): void {
    if (this.#closed) return;
    const redactor = this.#streams.get(stream) ?? this.#turn.deps.redactor.stream();
    this.#streams.set(stream, redactor);
    this.#show(stream, redactor.push(text));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const [stream, redactor] of this.#streams) this.#show(stream, redactor.flush());
  }

  #show(stream: Stream, text: string): void {
    if (text === "") return;
    this.#turn.deps.emit({ type: "tool-output", callId: this.#callId, stream, text });
  }
}

/** null: nobody can answer, nobody did in `agent.clarify_timeout`, or the turn was stopped. */
async function askUser(turn: Turn, callId: string, question: Question): Promise<string | null> {
  const { deps } = turn;
  if (!turn.input.answerable || turn.stop.cause !== null) return null;
  const requestId = deps.makeId("req");
  const answer = deps.clarification(requestId);
  deps.emit({
    type: "clarify-request",
    requestId,
    callId,
    question: deps.redactor.text(question.question),
    choices: question.choices.map((choice) => deps.redactor.text(choice)),
    expiresAt: new Date(deps.clock.now() + deps.settings.clarifyTimeoutMs).toISOString(),
  });
  showState(turn, "waiting-answer");
  const came = await within(answer, {
    clock: deps.clock,
    ms: deps.settings.clarifyTimeoutMs,
    signal: turn.stop.signal,
  });
  const text = came.came === "value" ? came.value.answer : null;
  const reason = { value: "answered", timeout: "timeout", abort: "interrupted" } as const;
  deps.emit({
    type: "clarify-end",
    requestId,
    answer: text === null ? null : deps.redactor.text(text),
    reason: reason[came.came],
  });
  showState(turn, "tools");
  return text;
}
