// The built-in demo model: in-process, no network, deterministic, and it says so in every answer (agent.md §3.6).
import { waitFor, type Clock } from "#base/clock.ts";
import type {
  ModelClient,
  ModelEvent,
  ModelMessage,
  ModelRequest,
} from "#agent/ports/model-client.ts";
import type { ModelErrorKind } from "#protocol/model-errors.ts";
import { DEMO_DELAY_MS, DEMO_LABEL } from "./demo-facts.ts";
import { tellResults, type DemoResult } from "./demo-results.ts";
import { demoStep, type DemoCall, type DemoStep } from "./demo-script.ts";

export interface DemoOptions {
  readonly clock: Clock;
  /** Pause between two words; 0: none. */
  readonly delayMs?: number | undefined;
}

/** How many "fail KIND" texts are remembered as having failed once. */
const MOST_FAILURES = 100;
/** Without pauses the event loop still gets its turn. */
const WORDS_PER_TURN = 50;

export function createDemoClient(options: DemoOptions): ModelClient {
  const failedOnce = new Set<string>();
  return { stream: (request) => streamDemo(request, options, failedOnce) };
}

async function* streamDemo(
  request: ModelRequest,
  options: DemoOptions,
  failedOnce: Set<string>,
): AsyncGenerator<ModelEvent> {
  try {
    yield* perform(nextStep(request, failedOnce), request, options);
  } catch (error) {
    yield request.signal.aborted
      ? failure("aborted", "Interrupted.")
      : failure("garbled", String(error));
  }
}

/** Results behind the newest user text are told; otherwise the text decides. */
function nextStep(request: ModelRequest, failedOnce: Set<string>): DemoStep {
  const { text: joined, results } = newest(request.messages);
  const text = afterFailure(joined);
  if (results.length > 0) return { say: tellResults(results) };
  const step = demoStep(text);
  if ("fail" in step) return failOnce(step, conversationKey(request.messages, text), failedOnce);
  return "calls" in step ? offeredOrSaid(step.calls, request) : step;
}

/** A text that failed for good has no answer, so the next one is joined to it (I2): only what came after it counts. */
function afterFailure(text: string): string {
  return text.replace(/^(?:fail\s+\S+\s*\n\n)+(?=\S)/i, "");
}

/** The kept head of a conversation names it, so that a compression between two attempts changes nothing. */
function conversationKey(messages: readonly ModelMessage[], text: string): string {
  const first = messages.find((message) => message.role === "user");
  return JSON.stringify([first?.role === "user" ? first.text : "", text]);
}

function failOnce(
  step: Extract<DemoStep, { fail: ModelErrorKind }>,
  key: string,
  failedOnce: Set<string>,
): DemoStep {
  if (failedOnce.delete(key)) return { say: step.say };
  if (failedOnce.size >= MOST_FAILURES) failedOnce.clear();
  failedOnce.add(key);
  return step;
}

function offeredOrSaid(calls: readonly DemoCall[], request: ModelRequest): DemoStep {
  if (request.toolChoice === "none")
    return { say: "I have to stop here: no more tool calls are allowed in this turn." };
  const offered = new Set(request.tools.map((tool) => tool.name));
  const missing = calls.find((call) => !offered.has(call.tool));
  return missing === undefined
    ? { calls }
    : { say: `The tool ${missing.tool} is not available in this session.` };
}

function newest(messages: readonly ModelMessage[]): {
  readonly text: string;
  readonly results: readonly DemoResult[];
} {
  const at = messages.findLastIndex((message) => message.role === "user");
  const user = messages[at];
  const results = messages
    .slice(at + 1)
    .flatMap((message) =>
      message.role === "tool" ? [{ tool: message.name, content: message.content }] : [],
    );
  return { text: user?.role === "user" ? user.text : "", results };
}

async function* perform(
  step: DemoStep,
  request: ModelRequest,
  options: DemoOptions,
): AsyncGenerator<ModelEvent> {
  request.signal.throwIfAborted();
  if ("fail" in step)
    return yield failure(step.fail, `The demo model fails as asked: ${step.fail}.`);
  if ("calls" in step) return yield* makeCalls(step.calls, request);
  const thoughts = "think" in step ? step.think : [];
  for (const text of thoughts) {
    await pause(options, options.delayMs ?? DEMO_DELAY_MS, request.signal);
    yield { type: "reasoning-delta", text };
  }
  const said = `${DEMO_LABEL}\n${step.say}`;
  const wordMs = "wordMs" in step ? step.wordMs : undefined;
  yield* speak(said, request, options, wordMs ?? options.delayMs ?? DEMO_DELAY_MS);
  return yield finish("stop", request, said.length + thoughts.join("").length);
}

async function* speak(
  said: string,
  request: ModelRequest,
  options: DemoOptions,
  wordMs: number,
): AsyncGenerator<ModelEvent> {
  let words = 0;
  for (const word of said.match(/\S+\s*/g) ?? []) {
    if (words > 0) await pause(options, wordMs, request.signal, words % WORDS_PER_TURN === 0);
    yield { type: "text-delta", text: word };
    words += 1;
  }
}

async function pause(
  options: DemoOptions,
  delayMs: number,
  signal: AbortSignal,
  breathe = false,
): Promise<void> {
  if (delayMs > 0) await waitFor(options.clock, delayMs, signal);
  else if (breathe)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  signal.throwIfAborted();
}

async function* makeCalls(
  calls: readonly DemoCall[],
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const inputs = calls.map((call) => JSON.stringify(call.input));
  for (const [index, call] of calls.entries()) {
    const inputText = inputs[index] ?? "{}";
    yield {
      type: "tool-call",
      callId: callId(request.messages, index),
      name: call.tool,
      input: call.input,
      inputText,
    };
  }
  return yield finish("tool-calls", request, inputs.join("").length);
}

/** Counts on from the history, and past every id in it: after a compression the count is lower than before. */
function callId(messages: readonly ModelMessage[], index: number): string {
  const used = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? message.toolCalls.map((call) => call.id) : [],
    ),
  );
  let number = messages.length;
  while (used.has(`demo_${number}_${index}`)) number += 1;
  return `demo_${number}_${index}`;
}

/** Tokens are characters / 4. */
function finish(
  reason: "stop" | "tool-calls",
  request: ModelRequest,
  outputCharacters: number,
): ModelEvent {
  const input =
    request.system.length + request.messages.reduce((sum, message) => sum + sizeOf(message), 0);
  const usage = {
    input: tokens(input),
    output: tokens(outputCharacters),
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
  };
  return { type: "finish", reason, usage };
}

function sizeOf(message: ModelMessage): number {
  if (message.role === "tool") return message.content.length;
  if (message.role === "user") return message.text.length;
  return (
    message.text.length + message.toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)
  );
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function failure(kind: ModelErrorKind, message: string): ModelEvent {
  return { type: "error", error: { kind, message } };
}
