// process: following and ending background processes (agent.md §5.1).
import * as z from "zod/mini";
import { waitFor } from "#base/clock.ts";
import { ToolError, type Tool, type ToolContext } from "#agent/ports/tool.ts";
import type { Background, BackgroundProcess } from "./background.ts";
import type { CommandJudge } from "./command-judge.ts";
import { defineTool, type ToolOutput } from "./define.ts";

const DEFAULT_WAIT_SECONDS = 60;
const DEFAULT_LOG_LINES = 200;

const INPUT = z.object({
  action: z
    .enum(["list", "poll", "log", "wait", "kill", "write"])
    .check(
      z.describe(
        "poll: state and new output; log: lines of the whole log; wait: until it ends; write: data to its standard input.",
      ),
    ),
  process_id: z.optional(
    z.string().check(z.describe("As terminal returned it; needed by all but list.")),
  ),
  timeout: z.optional(
    z.int().check(z.minimum(1), z.maximum(600), z.describe("Seconds, for wait.")),
  ),
  data: z.optional(
    z.string().check(z.maxLength(1_000_000), z.describe("For write; add \\n where a line ends.")),
  ),
  offset: z.optional(
    z
      .int()
      .check(z.minimum(0), z.describe("For log: first line, from 0; without it the last lines.")),
  ),
  limit: z.optional(
    z.int().check(z.minimum(1), z.maximum(2000), z.describe("For log: how many lines (200).")),
  ),
});
type Input = z.output<typeof INPUT>;

export function createProcessTool(background: Background, judge: CommandJudge): Tool {
  return defineTool({
    name: "process",
    toolset: "terminal",
    description: "List, read, wait for, end or write to background processes of this session.",
    input: INPUT,
    // What is written may be commands for a shell that waits for them.
    assess: (input, context) =>
      input.action === "write" && input.data !== undefined ? judge(input.data, context.cwd) : {},
    run: (input, context) => run(background, input, context),
  });
}

async function run(
  background: Background,
  input: Input,
  context: ToolContext,
): Promise<ToolOutput> {
  if (input.action === "list") return { processes: background.list().map(describe) };
  if (input.process_id === undefined) {
    throw new ToolError("PROCESS_ID_MISSING", `process ${input.action} needs process_id`);
  }
  const target = background.find(input.process_id);
  switch (input.action) {
    case "poll":
      return { ...stateOf(target), output: target.fresh() };
    case "log":
      return { ...stateOf(target), ...linesOf(target.log(), input) };
    case "wait":
      await waitForEnd(target, input, context);
      return { ...stateOf(target), output: target.fresh() };
    case "kill":
      await target.kill();
      return { ...stateOf(target), output: target.fresh() };
    case "write":
      await target.write(input.data ?? "");
      return { ...stateOf(target), output: target.fresh() };
    default:
      return input.action satisfies never;
  }
}

function describe(entry: BackgroundProcess): ToolOutput {
  return {
    process_id: entry.id,
    command: entry.command,
    pid: entry.pid,
    ...stateOf(entry),
    log_path: entry.logPath,
    started_at: new Date(entry.startedAt).toISOString(),
  };
}

function stateOf(entry: BackgroundProcess): ToolOutput {
  return entry.state === "running"
    ? { state: entry.state }
    : { state: entry.state, exit_code: entry.exitCode };
}

function linesOf(text: string, input: Input): ToolOutput {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const limit = input.limit ?? DEFAULT_LOG_LINES;
  const offset = input.offset ?? Math.max(0, lines.length - limit);
  return {
    output: lines.slice(offset, offset + limit).join("\n"),
    offset,
    total_lines: lines.length,
  };
}

async function waitForEnd(
  target: BackgroundProcess,
  input: Input,
  context: ToolContext,
): Promise<void> {
  const limitMs = (input.timeout ?? DEFAULT_WAIT_SECONDS) * 1000;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const timer = waitFor(context.clock, limitMs, signal).catch(() => undefined);
  await Promise.race([target.ended, timer]);
  stop.abort();
}
