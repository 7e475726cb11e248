// Events of a turn as lines of a terminal (REPL). Output waits while the user is typing, so that neither destroys the other.
import { cutStart, inert } from "#base/text.ts";
import type { AgentEvent, EventOf } from "#protocol/events.ts";
import type { Io, Style } from "../io.ts";

export const TOOL_PROGRESS = ["off", "new", "all", "verbose"] as const;
export type ToolProgress = (typeof TOOL_PROGRESS)[number];

const SUMMARY_LIMIT = 120;

export interface ScreenOptions {
  toolProgress: ToolProgress;
  showReasoning: boolean;
}

/** Turns the answer's text into what is shown; see MarkdownStream. */
export interface TextFilter {
  push(text: string): string;
  flush(): string;
  reset(): void;
}

export const PLAIN_TEXT: TextFilter = {
  push: (text) => text,
  flush: () => "",
  reset: () => undefined,
};

/** The line that the user types on, as the screen sees it. */
export interface TypingLine {
  /** Something is typed and not sent yet. */
  isTyping(): boolean;
  /** Takes an empty prompt away before something is written. */
  makeWay(): void;
}

export class Screen {
  readonly options: ScreenOptions;
  readonly #io: Pick<Io, "write" | "paint">;
  readonly #typing: TypingLine;
  readonly #text: TextFilter;
  #held = "";
  #atLineStart = true;
  #lastTool = "";
  #style: "text" | "reasoning" | "output" = "text";

  constructor(
    io: Pick<Io, "write" | "paint">,
    options: ScreenOptions,
    typing: TypingLine,
    text: TextFilter = PLAIN_TEXT,
  ) {
    this.#io = io;
    this.options = { ...options };
    this.#typing = typing;
    this.#text = text;
  }

  /** A line of ours, on a line of its own. */
  say(text: string, style: Style = "dim"): void {
    this.#newLine();
    for (const line of inert(text).split("\n")) this.#put(`${this.#io.paint(style, line)}\n`);
  }

  /** Text without a style, on lines of its own. */
  show(text: string): void {
    this.#newLine();
    const shown = inert(text);
    this.#put(shown.endsWith("\n") ? shown : `${shown}\n`);
  }

  /** What was held back while the user typed. */
  flush(): void {
    const text = this.#held;
    this.#held = "";
    if (text !== "") this.#write(text);
  }

  /** The user begins to type: their line must not stand behind half a line of ours. */
  makeRoom(): void {
    if (this.#atLineStart || this.#held !== "") return;
    this.#io.write("\n");
    this.#atLineStart = true;
  }

  /** The user's Enter moved the cursor to a new line. */
  lineEntered(): void {
    if (this.#held === "") this.#atLineStart = true;
    this.flush();
  }

  event(event: AgentEvent): void {
    switch (event.type) {
      case "text-delta":
        return this.#answer(event.text);
      case "reasoning-delta":
        return this.options.showReasoning
          ? this.#stream("reasoning", inert(event.text))
          : undefined;
      case "tool-call":
        return this.#toolCall(event);
      case "tool-output":
        return this.options.toolProgress === "verbose"
          ? this.#stream("output", inert(event.text))
          : undefined;
      case "tool-end":
        return this.#toolEnd(event);
      case "model-retry":
        return this.#retry(event);
      case "notice":
        return this.say(`! ${event.text}`, event.level === "error" ? "red" : "yellow");
      case "compress-start":
        return this.say("… summarising the conversation to free context");
      case "compress-end":
        return event.ok ? this.say(`context: ${event.before} → ${event.after} tokens`) : undefined;
      case "approval-end":
        return this.say(
          `${event.choice === "deny" ? "✗ denied" : `✓ allowed (${event.choice})`} by ${event.by}`,
        );
      case "process-end":
        return this.say(
          `background process ${event.processId} ended with ${event.exitCode ?? "a signal"}`,
        );
      case "queue":
        return event.items.length > 0 ? this.say(`${event.items.length} waiting`) : undefined;
      case "turn-end":
        return this.#turnEnd(event);
      case "snapshot":
      case "turn-start":
      case "status":
      case "model-start":
      case "model-end":
      case "tool-start":
      case "approval-request":
      case "clarify-request":
      case "clarify-end":
      case "message-saved":
      case "session-change":
      case "title":
        return undefined;
    }
  }

  #answer(text: string): void {
    if (this.#style !== "text") this.#newLine();
    this.#stream("text", this.#text.push(inert(text)));
  }

  #stream(style: "text" | "reasoning" | "output", text: string): void {
    if (style !== this.#style) this.#newLine();
    this.#style = style;
    if (text === "") return;
    this.#put(style === "text" ? text : this.#io.paint("dim", text), text.endsWith("\n"));
  }

  #toolCall(event: EventOf<"tool-call">): void {
    const { toolProgress } = this.options;
    if (toolProgress === "off") return;
    if (toolProgress === "new" && event.name === this.#lastTool) return;
    this.#lastTool = event.name;
    this.say(`⚙ ${event.name}${describeInput(event.input)}`, "cyan");
  }

  #toolEnd(event: EventOf<"tool-end">): void {
    const { toolProgress } = this.options;
    if (toolProgress === "off" || (toolProgress === "new" && event.ok)) return;
    const seconds = (event.durationMs / 1000).toFixed(1);
    this.say(
      `${event.ok ? "  ✓" : "  ✗"} ${event.summary} (${seconds} s)`,
      event.ok ? "dim" : "red",
    );
  }

  #retry(event: EventOf<"model-retry">): void {
    const wait = event.waitMs > 0 ? `; again in ${Math.ceil(event.waitMs / 1000)} s` : "";
    const next = event.fallback
      ? `; going on with ${event.fallback.provider}:${event.fallback.model}`
      : wait;
    if (event.discardText) this.#text.reset();
    const withdrawn = event.discardText ? " (the text above is withdrawn)" : "";
    this.say(`! ${event.message}${next}${withdrawn}`, "yellow");
  }

  #turnEnd(event: EventOf<"turn-end">): void {
    this.#newLine();
    this.#text.reset();
    this.#lastTool = "";
    if (event.outcome === "interrupted") this.say("[interrupted; what was shown is kept]");
    else if (event.outcome === "budget") this.say("[the budget of this turn is used up]", "yellow");
    else if (event.error) this.say(`✗ ${event.error.message}`, "red");
  }

  #newLine(): void {
    const rest = this.#style === "text" ? this.#text.flush() : "";
    if (rest !== "") this.#put(rest, false);
    if (!this.#atLineStart) this.#put("\n");
    this.#style = "text";
  }

  #put(text: string, endsLine = text.endsWith("\n")): void {
    this.#atLineStart = endsLine;
    if (this.#typing.isTyping() || this.#held !== "") this.#held += text;
    else this.#write(text);
  }

  #write(text: string): void {
    this.#typing.makeWay();
    this.#io.write(text);
  }
}

/** ` ls -la`, ` path=notes.txt`: enough to recognise a call, on one line. */
export function describeInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = Object.entries(input).filter(([, value]) => value !== undefined);
  const [first] = fields;
  if (!first) return "";
  const named = fields.find(([name]) => name === "command" || name === "path" || name === "query");
  const [, value] = named ?? first;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > SUMMARY_LIMIT ? ` ${cutStart(line, SUMMARY_LIMIT)}…` : ` ${line}`;
}
