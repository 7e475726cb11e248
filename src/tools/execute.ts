// One call of a tool: whatever comes out of it becomes one JSON message, redacted, cut and spilled (agent.md §5.1).
import { messageOf } from "#base/errors.ts";
import { cutStart } from "#base/text.ts";
import type { StreamRedactor } from "#agent/ports/redactor.ts";
import { ToolError, type Tool, type ToolContext, type ToolResult } from "#agent/ports/tool.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { fitResult } from "./fit-result.ts";
import { summaryOf } from "./summary.ts";

/** Characters of a result on its way to the model. */
export const RESULT_LIMIT_CHARS = 30_000;
/** `read_file` pages by itself: 100 KB per call, JSON escapes included. */
const READ_LIMIT_CHARS = 150_000;

type Execute = (tool: Tool, input: unknown, context: ToolContext) => Promise<ToolResult>;

export function createExecutor(deps: ToolBoxDeps): Execute {
  const limitOf = (name: string): number => {
    if (name === "terminal" || name === "process") {
      return Math.max(1000, deps.settings.terminal.output_limit_chars);
    }
    return name === "read_file" ? READ_LIMIT_CHARS : RESULT_LIMIT_CHARS;
  };
  return async (tool, input, context) => {
    const live = redactLive(deps, context);
    const answer = await runTool(tool, input, live.context);
    live.flush();
    const redacted = deps.redactor.value(answer.value);
    const value = tool.untrusted ? { untrusted: true, ...redacted } : redacted;
    const fitted = fitResult(value, limitOf(tool.name), deps);
    return {
      ok: answer.ok,
      content: fitted.content,
      summary: deps.redactor.text(cutStart(summaryOf(tool.name, input, redacted), 200)),
      bytes: fitted.bytes,
      truncated: fitted.truncated,
      ...(answer.code === null ? {} : { code: answer.code }),
    };
  };
}

interface Answer {
  readonly ok: boolean;
  readonly value: Readonly<Record<string, unknown>>;
  readonly code: string | null;
}

async function runTool(tool: Tool, input: unknown, context: ToolContext): Promise<Answer> {
  try {
    return { ok: true, value: await tool.run(input, context), code: null };
  } catch (error) {
    const code = error instanceof ToolError ? error.code : "TOOL_FAILED";
    const data = error instanceof ToolError ? error.data : {};
    return { ok: false, value: { error: messageOf(error), code, ...data }, code };
  }
}

/** Viewers see output before it is a result, so it is redacted on its way, piece by piece. */
function redactLive(
  deps: ToolBoxDeps,
  context: ToolContext,
): { readonly context: ToolContext; flush(): void } {
  const streams = new Map<"stdout" | "stderr" | "progress", StreamRedactor>();
  const output: ToolContext["output"] = (name, text) => {
    let stream = streams.get(name);
    if (!stream) streams.set(name, (stream = deps.redactor.stream()));
    const shown = stream.push(text);
    if (shown !== "") context.output(name, shown);
  };
  return {
    context: {
      sessionId: context.sessionId,
      turnId: context.turnId,
      callId: context.callId,
      cwd: context.cwd,
      setCwd: (path) => context.setCwd(path),
      signal: context.signal,
      clock: context.clock,
      output,
      ask: (question) => context.ask(question),
      unattended: context.unattended,
    },
    flush() {
      for (const [name, stream] of streams) {
        const rest = stream.flush();
        if (rest !== "") context.output(name, rest);
      }
    },
  };
}
