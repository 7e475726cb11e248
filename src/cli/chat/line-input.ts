// Lines from the terminal: readline with history, completion, and pastes that stay one message (bracketed paste).
import { createInterface } from "node:readline/promises";
import { slashCommandsOf } from "#protocol/slash-commands.ts";
import type { Io } from "../io.ts";
import { completePath } from "./complete-path.ts";
import { HISTORY_LIMIT } from "./history.ts";

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

export interface LineInputOptions {
  readonly io: Io;
  /** Newest first. */
  readonly history: readonly string[];
  /** One message: a line, or everything that was pasted together. */
  onMessage(text: string): void;
  /** Ctrl-C. */
  onInterrupt(): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd(): void;
  /** The first key of a line. */
  onTyping(): void;
  /** The cursor went to a new line. */
  onEnter(): void;
}

export interface LineInput {
  prompt(text: string): void;
  /** Takes an empty prompt off its row, so that output begins there. What is typed already stays. */
  hidePrompt(): void;
  /** Something is typed and not sent yet. */
  isTyping(): boolean;
  /** Throws away what is typed; false when there was nothing. */
  clearLine(): boolean;
  close(): void;
}

export function openLineInput(options: LineInputOptions): LineInput {
  const { stdin, stdout } = options.io;
  const pasted: string[] = [];
  let isPasting = false;
  let isClosed = false;
  let isPromptShown = false;
  const readline = createInterface({
    input: stdin,
    output: stdout,
    terminal: true,
    history: [...options.history],
    historySize: HISTORY_LIMIT,
    removeHistoryDuplicates: true,
    prompt: "",
    completer: complete,
  });
  // Before readline's own listener: it must not have drawn the key yet.
  const onKey = (_text: string | undefined, key: { readonly name?: string }): void => {
    if (key.name === "paste-start") isPasting = true;
    else if (key.name === "paste-end") isPasting = false;
    else if (readline.line === "" && pasted.length === 0) options.onTyping();
  };
  stdin.prependListener("keypress", onKey);
  stdout.write(PASTE_ON);
  const restore = (): void => void stdout.write(PASTE_OFF);
  process.once("exit", restore);

  readline.on("line", (line) => {
    isPromptShown = false;
    if (isPasting) return void pasted.push(line);
    const text = [...pasted.splice(0), line].join("\n");
    options.onEnter();
    options.onMessage(text);
  });
  readline.on("SIGINT", () => options.onInterrupt());
  readline.on("close", () => {
    if (!isClosed) options.onEnd();
  });
  return {
    prompt(text) {
      readline.setPrompt(text);
      readline.prompt(true);
      isPromptShown = true;
    },
    hidePrompt() {
      readline.setPrompt("");
      if (isPromptShown && readline.line === "") stdout.write("\r\x1b[K");
      isPromptShown = false;
    },
    isTyping: () => readline.line !== "" || pasted.length > 0,
    clearLine() {
      const had = readline.line !== "" || pasted.length > 0;
      pasted.length = 0;
      if (readline.line !== "") readline.write(null, { ctrl: true, name: "e" });
      readline.write(null, { ctrl: true, name: "u" });
      return had;
    },
    close() {
      isClosed = true;
      stdin.off("keypress", onKey);
      process.off("exit", restore);
      restore();
      readline.close();
    },
  };
}

/** Slash commands at the start of the line, paths elsewhere. */
function complete(line: string): [string[], string] {
  if (/^\/[\w-]*$/.test(line)) {
    const names = slashCommandsOf("terminal").map((entry) => `/${entry.name}`);
    const hits = names.filter((name) => name.startsWith(line));
    return [hits.map((name) => `${name} `), line];
  }
  const word = /\S*$/.exec(line)?.[0] ?? "";
  return word === "" ? [[], ""] : [completePath(word), word];
}
