// What the demo model answers to which text (agent.md §3.6): a table, first match wins, no state, no clock.
import type { ModelErrorKind } from "#protocol/model-errors.ts";

export interface DemoCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What one model call does. */
export type DemoStep =
  | { readonly say: string; readonly wordMs?: number }
  | { readonly think: readonly string[]; readonly say: string }
  | { readonly calls: readonly DemoCall[] }
  | { readonly fail: ModelErrorKind; readonly say: string };

interface DemoRow {
  /** As it stands in the help. */
  readonly shown: string;
  readonly does: string;
  readonly pattern: RegExp;
  step(match: RegExpExecArray): DemoStep;
}

const MOST_WORDS = 2000;
const DEFAULT_WORDS = 200;
const MOST_SECONDS = 120;
const SECOND_MS = 1000;
/** Long texts (a conversation to sum up) are not repeated whole. */
const ECHO_CHARACTERS = 400;

const KINDS = [
  "auth",
  "billing",
  "model-missing",
  "rate-limit",
  "overloaded",
  "server",
  "network",
  "stalled",
  "context",
  "filtered",
  "garbled",
  "empty",
  "bad-request",
  "aborted",
] as const satisfies readonly ModelErrorKind[];

function one(tool: string, input: Readonly<Record<string, unknown>>): DemoStep {
  return { calls: [{ tool, input }] };
}

const ROWS: readonly DemoRow[] = [
  {
    shown: "run CMD",
    does: "runs a command in the terminal",
    pattern: /^run\s+(.+)$/is,
    step: (match) => one("terminal", { command: group(match, 1) }),
  },
  {
    shown: "read PATH",
    does: "reads a file",
    pattern: /^read\s+(.+)$/is,
    step: (match) => one("read_file", { path: group(match, 1) }),
  },
  {
    shown: "write PATH TEXT",
    does: "writes a file",
    pattern: /^write\s+(\S+)\s+(.+)$/is,
    step: (match) => one("write_file", { path: group(match, 1), content: `${group(match, 2)}\n` }),
  },
  {
    shown: "find TEXT",
    does: "searches the files of the working directory",
    pattern: /^find\s+(.+)$/is,
    step: (match) => one("search_files", { pattern: group(match, 1) }),
  },
  {
    shown: "fetch URL",
    does: "reads a web page",
    pattern: /^fetch\s+(\S+)\s*$/is,
    step: (match) => one("web_extract", { urls: [group(match, 1)] }),
  },
  {
    shown: "remember TEXT",
    does: "keeps a fact for later sessions",
    pattern: /^remember\s+(.+)$/is,
    step: (match) => one("memory", { action: "add", target: "memory", content: group(match, 1) }),
  },
  {
    shown: "recall TEXT",
    does: "searches earlier conversations",
    pattern: /^recall\s+(.+)$/is,
    step: (match) => one("session_search", { query: group(match, 1) }),
  },
  {
    shown: "todo A; B; C",
    does: "makes a list",
    pattern: /^todo\s+(.+)$/is,
    step: (match) => one("todo", { todos: todosOf(group(match, 1)) }),
  },
  {
    shown: "ask",
    does: "asks you something back",
    pattern: /^ask\s*$/i,
    step: () =>
      one("clarify", { question: "Which one shall it be?", choices: ["red", "green", "blue"] }),
  },
  {
    shown: "two",
    does: "two tool calls at once",
    pattern: /^two\s*$/i,
    step: () => ({
      calls: [
        { tool: "terminal", input: { command: "date" } },
        { tool: "terminal", input: { command: "pwd" } },
      ],
    }),
  },
  {
    shown: "stream [N]",
    does: `N numbered words (${DEFAULT_WORDS}, at most ${MOST_WORDS}): scroll, interrupt, reload`,
    pattern: /^stream(?:\s+(\d+))?\s*$/i,
    step: (match) => ({ say: numberedWords(count(match[1], DEFAULT_WORDS, MOST_WORDS)) }),
  },
  {
    shown: "think",
    does: "shows its reasoning",
    pattern: /^think\s*$/i,
    step: () => ({
      think: [
        "First I look at the question. ",
        "Then I remember that I am a script. ",
        "So I say so.",
      ],
      say: "I thought about it in three steps and have nothing to add.",
    }),
  },
  {
    shown: "fail KIND",
    does: `fails once: ${KINDS.join(", ")}`,
    pattern: /^fail\s+(\S+)/i,
    step: (match) => failure(group(match, 1)),
  },
  {
    shown: "slow SECONDS",
    does: `one word per second (at most ${MOST_SECONDS})`,
    pattern: /^slow\s+(\d+)\s*$/i,
    step: (match) => ({ say: numberedWords(count(match[1], 1, MOST_SECONDS)), wordMs: SECOND_MS }),
  },
];

/** The step for the newest user text. */
export function demoStep(userText: string): DemoStep {
  const text = userText.trim();
  for (const row of ROWS) {
    const match = row.pattern.exec(text);
    if (match !== null) return row.step(match);
  }
  return { say: help(text) };
}

function group(match: RegExpExecArray, index: number): string {
  return (match[index] ?? "").trim();
}

function count(digits: string | undefined, fallback: number, most: number): number {
  const value = digits === undefined ? fallback : Number(digits);
  return Math.min(Math.max(1, value), most);
}

function numberedWords(words: number): string {
  return Array.from({ length: words }, (_, index) => `word${index + 1}`).join(" ");
}

function todosOf(text: string): readonly { readonly content: string; readonly status: string }[] {
  const items = text.split(";").map((item) => item.trim());
  return items
    .filter((item) => item !== "")
    .map((content, index) => ({ content, status: index === 0 ? "in_progress" : "pending" }));
}

function failure(word: string): DemoStep {
  const kind = KINDS.find((known) => known === word.toLowerCase());
  if (kind === undefined) return { say: `I can fail in these ways: ${KINDS.join(", ")}.` };
  return { fail: kind, say: `The call before this one failed with "${kind}"; this one did not.` };
}

function help(text: string): string {
  const said =
    text.length > ECHO_CHARACTERS ? `${text.slice(0, ECHO_CHARACTERS).toWellFormed()}…` : text;
  return [
    `You said: ${said}`,
    "",
    "I am a script that answers without any network. Try:",
    ...ROWS.map((row) => `- \`${row.shown}\`: ${row.does}`),
    "- `help`: this list",
    "",
    "To use a real model: `hermes model`, or the page Models in the dashboard.",
  ].join("\n");
}
