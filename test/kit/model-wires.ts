// Server-sent events of both wires for a scripted answer. Shapes: OpenAI Chat Completions chunks, Anthropic Messages events.
import type { Answer, Part, ReplyUsage } from "./model-reply.ts";

export type Wire = "openai-chat" | "anthropic-messages";

/** What the server does next. */
export type Step =
  | { readonly send: string }
  | { readonly waitMs: number }
  | { readonly hold: string }
  | { readonly end: "close" | "stall" | "cut" };

const DEFAULT_USAGE: ReplyUsage = { input: 10, output: 5 };

export function* renderAnswer(
  answer: Answer,
  wire: Wire,
  model: string,
  serial: number,
): Generator<Step> {
  const writer =
    wire === "openai-chat" ? openAiWriter(model, serial) : anthropicWriter(model, serial, answer);
  yield { send: writer.start() };
  let calls = 0;
  for (const part of answer.parts) {
    if ("stall" in part) return yield { end: "stall" };
    if ("cut" in part) return yield { end: "cut" };
    if ("hold" in part) yield { hold: part.hold };
    else if ("wait" in part) yield { waitMs: part.wait };
    else if ("comment" in part) yield { send: `: ${part.comment}\n\n` };
    else if ("garbage" in part) yield { send: `data: ${part.garbage}\n\n` };
    else yield* content(writer, part, serial, "call" in part ? calls++ : calls);
  }
  yield { send: writer.finish(answer, calls) };
  yield { end: "close" };
  return undefined;
}

type ContentPart = Extract<
  Part,
  { text: unknown } | { reasoning: unknown } | { call: unknown } | { error: unknown }
>;

function* content(
  writer: Writer,
  part: ContentPart,
  serial: number,
  index: number,
): Generator<Step> {
  if ("error" in part) return yield { send: writer.error(part.error) };
  if ("call" in part) {
    const id = part.id ?? `call_${serial}_${index}`;
    yield { send: writer.callStart(id, part.call, index) };
    const args = typeof part.args === "string" ? part.args : JSON.stringify(part.args);
    for (const piece of pieces(args, part.split ?? 1))
      yield { send: writer.callArgs(piece, index) };
    return yield { send: writer.blockEnd() };
  }
  if ("reasoning" in part) {
    if (part.redacted !== undefined) return yield { send: writer.redacted(part.redacted) };
    for (const piece of listOf(part.reasoning)) yield { send: writer.reasoning(piece) };
    return yield { send: writer.signature(part.signature ?? "sig") + writer.blockEnd() };
  }
  for (const piece of listOf(part.text)) {
    if (part.delayMs !== undefined) yield { waitMs: part.delayMs };
    yield { send: writer.text(piece) };
  }
  return yield { send: writer.blockEnd() };
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === "string" ? [value] : value;
}

/** Cuts anywhere, even inside an escape. */
function pieces(value: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(value.length / count));
  return Array.from({ length: Math.ceil(value.length / size) }, (_, index) =>
    value.slice(index * size, (index + 1) * size),
  );
}

interface Writer {
  start(): string;
  text(piece: string): string;
  reasoning(piece: string): string;
  signature(value: string): string;
  redacted(data: string): string;
  callStart(id: string, name: string, index: number): string;
  callArgs(piece: string, index: number): string;
  blockEnd(): string;
  error(error: { readonly type: string; readonly message: string; readonly code?: string }): string;
  finish(answer: Answer, calls: number): string;
}

function openAiWriter(model: string, serial: number): Writer {
  const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const head = {
    id: `chatcmpl-${serial}`,
    object: "chat.completion.chunk",
    created: 1_768_478_400,
    model,
  };
  const delta = (value: unknown, finish: string | null = null): string =>
    data({ ...head, choices: [{ index: 0, delta: value, finish_reason: finish }] });
  return {
    start: () => delta({ role: "assistant", content: "" }),
    text: (piece) => delta({ content: piece }),
    reasoning: (piece) => delta({ reasoning_content: piece }),
    signature: () => "",
    redacted: () => "",
    callStart: (id, name, index) =>
      delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    callArgs: (piece, index) => delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
    blockEnd: () => "",
    error: (error) => data({ error: { ...error, code: error.code ?? null, param: null } }),
    finish: (answer, calls) => openAiFinish(answer, calls, head, delta, data),
  };
}

function openAiFinish(
  answer: Answer,
  calls: number,
  head: object,
  delta: (value: unknown, finish: string | null) => string,
  data: (value: unknown) => string,
): string {
  const reason = finishOf(answer, calls)
    ?.replace("tool-calls", "tool_calls")
    .replace("content-filter", "content_filter");
  const usage = answer.usage === null ? null : (answer.usage ?? DEFAULT_USAGE);
  const last = reason === undefined ? "" : delta({}, reason);
  const counted = usage === null ? "" : data({ ...head, choices: [], usage: openAiUsage(usage) });
  return last + counted + (answer.done === false ? "" : "data: [DONE]\n\n");
}

function openAiUsage(usage: ReplyUsage): unknown {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    ...(usage.cacheRead === undefined
      ? {}
      : { prompt_tokens_details: { cached_tokens: usage.cacheRead } }),
    ...(usage.reasoning === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
  };
}

function finishOf(answer: Answer, calls: number): string | undefined {
  if (answer.finish === null) return undefined;
  return answer.finish ?? (calls > 0 ? "tool-calls" : "stop");
}

const ANTHROPIC_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
};

function anthropicWriter(model: string, serial: number, answer: Answer): Writer {
  const event = (value: { readonly type: string }): string =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  let index = -1;
  let open: string | null = null;
  const end = (): string => {
    if (open === null) return "";
    open = null;
    return event({ type: "content_block_stop", index } as never);
  };
  const begin = (kind: string, block: unknown): string => {
    if (open === kind) return "";
    const closed = end();
    index += 1;
    open = kind;
    return closed + event({ type: "content_block_start", index, content_block: block } as never);
  };
  const delta = (value: unknown): string =>
    event({ type: "content_block_delta", index, delta: value } as never);
  return {
    start: () =>
      event({ type: "message_start", message: anthropicMessage(model, serial, answer) } as never),
    text: (piece) =>
      begin("text", { type: "text", text: "" }) + delta({ type: "text_delta", text: piece }),
    reasoning: (piece) =>
      begin("thinking", { type: "thinking", thinking: "", signature: "" }) +
      delta({ type: "thinking_delta", thinking: piece }),
    signature: (value) => delta({ type: "signature_delta", signature: value }),
    redacted: (data) => begin("redacted", { type: "redacted_thinking", data }) + end(),
    callStart: (id, name) => begin(`call ${id}`, { type: "tool_use", id, name, input: {} }),
    callArgs: (piece) => delta({ type: "input_json_delta", partial_json: piece }),
    blockEnd: end,
    error: (error) => event({ type: "error", error } as never),
    finish: (reply, calls) => end() + anthropicFinish(reply, calls, event),
  };
}

function anthropicMessage(model: string, serial: number, answer: Answer): unknown {
  const usage = answer.usage ?? DEFAULT_USAGE;
  return {
    id: `msg_${serial}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - (usage.cacheRead ?? 0) - (usage.cacheWrite ?? 0),
      output_tokens: 1,
      ...(usage.cacheRead === undefined ? {} : { cache_read_input_tokens: usage.cacheRead }),
      ...(usage.cacheWrite === undefined ? {} : { cache_creation_input_tokens: usage.cacheWrite }),
    },
  };
}

function anthropicFinish(
  answer: Answer,
  calls: number,
  event: (value: { readonly type: string }) => string,
): string {
  const reason = finishOf(answer, calls);
  const stop = answer.done === false ? "" : event({ type: "message_stop" });
  if (reason === undefined) return stop;
  const delta = { stop_reason: ANTHROPIC_REASONS[reason] ?? reason, stop_sequence: null };
  const usage = { output_tokens: (answer.usage ?? DEFAULT_USAGE).output };
  return event({ type: "message_delta", delta, usage } as never) + stop;
}
