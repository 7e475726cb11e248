// How tokens of a line hang together: pipelines, reserved words, loops, assignments. Grammar: bash(1), "SHELL GRAMMAR".
import type { Token, Word } from "./shell-lexer.ts";

const RESERVED = new Set([
  "if",
  "then",
  "elif",
  "else",
  "while",
  "until",
  "do",
  "{",
  "!",
  "time",
  "coproc",
  "done",
  "fi",
  "}",
  "esac",
]);

type Tokens = readonly Token[];

export function splitPipelines(tokens: Tokens): readonly (readonly Tokens[])[] {
  const pipelines: Tokens[][] = [];
  let pipeline: Tokens[] = [];
  let stage: Token[] = [];
  let piped = false;
  for (const token of tokens) {
    if (token.type !== "operator") {
      stage.push(token);
      continue;
    }
    // `… | (sh)`: the bracket goes on with the pipeline.
    if (token.text === "(" && piped && stage.length === 0) continue;
    if (stage.length > 0) pipeline.push(stage);
    stage = [];
    piped = token.text === "|" || token.text === "|&";
    if (piped) {
      pipeline = pipedFrom(pipeline, pipelines);
      continue;
    }
    if (pipeline.length > 0) pipelines.push(pipeline);
    pipeline = [];
  }
  if (stage.length > 0) pipeline.push(stage);
  if (pipeline.length > 0) pipelines.push(pipeline);
  return pipelines;
}

const CLOSERS = new Set(["}", "done", "fi", "esac"]);

/** `(a) | b`, `{ a; } | b`, `done | b`: what goes through the pipe is the last command inside. */
function pipedFrom(pipeline: Tokens[], pipelines: Tokens[][]): Tokens[] {
  const last = pipeline.at(-1);
  const [only] = last ?? [];
  const closes =
    last?.length === 1 && only?.type === "word" && CLOSERS.has(plainText(only.word) ?? "");
  const before = closes ? pipeline.slice(0, -1) : pipeline;
  return before.length > 0 ? before : (pipelines.pop() ?? []);
}

function plainText(word: Word | undefined): string | null {
  if (!word || word.some((part) => part.kind !== "text" || part.quoted)) return null;
  return word.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

export function stripReserved(words: readonly Word[]): readonly Word[] {
  let at = 0;
  while (at < words.length && RESERVED.has(plainText(words[at]) ?? "")) at++;
  if (plainText(words[at]) === "function") at += plainText(words[at + 2]) === "{" ? 3 : 2;
  // `case x in pattern) …`: the pattern's bracket ends a command, so a stray `case` line is only words.
  return words.slice(at);
}

export function loopOf(words: readonly Word[]): { name: string; values: readonly Word[] } | null {
  const first = plainText(words[0]);
  if ((first !== "for" && first !== "select") || plainText(words[2]) !== "in") return null;
  return { name: plainText(words[1]) ?? "", values: words.slice(3) };
}

export function assignmentOf(word: Word): { name: string; value: Word; appends: boolean } | null {
  let head = "";
  for (const [index, part] of word.entries()) {
    if (part.kind !== "text" || part.quoted) return null;
    head += part.text;
    const match = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?(\+?)=/.exec(head);
    if (match) {
      const left = { kind: "text" as const, text: head.slice(match[0].length), quoted: false };
      return {
        name: match[1] ?? "",
        value: [left, ...word.slice(index + 1)],
        appends: match[2] === "+",
      };
    }
  }
  return null;
}
