// terminal: one command of bash, in the foreground or in the background (agent.md §5.1).
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod/mini";
import { ToolError, type Tool, type ToolContext } from "#agent/ports/tool.ts";
import type { Background } from "./background.ts";
import type { CommandJudge } from "./command-judge.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { expandPath } from "./paths.ts";
import { endEscaped, startGroup, ticksNow, type ProcessGroup } from "./process-group.ts";
import { toolEnvironment, toolHome } from "./tool-env.ts";

const INPUT = z.object({
  command: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(32_768),
      z.describe("What bash runs. The working directory lasts between calls, variables do not."),
    ),
  timeout: z.optional(
    z.int().check(z.minimum(1), z.maximum(600), z.describe("Seconds until the command is ended.")),
  ),
  workdir: z.optional(
    z.string().check(z.describe("Run there instead of the session's directory.")),
  ),
  background: z.optional(
    z
      .boolean()
      .check(z.describe("Start it and return at once; use the process tool to follow it.")),
  ),
  notify_on_complete: z.optional(
    z.boolean().check(z.describe("With background: tell the session when it ends.")),
  ),
});
type Input = z.output<typeof INPUT>;

export function createTerminal(
  deps: ToolBoxDeps,
  background: Background,
  judge: CommandJudge,
): Tool {
  return defineTool({
    name: "terminal",
    toolset: "terminal",
    description:
      "Run a bash command and get its merged output and exit code. Standard input is empty. Use background for servers and long jobs.",
    input: INPUT,
    exclusive: true,
    unavailable: () =>
      findProgram("bash", deps.env("PATH")) === null ? "bash is not installed" : null,
    assess: (input, context) => judge(input.command, workdirOf(deps, input, context.cwd)),
    run: (input, context) =>
      input.background === true
        ? runInBackground(deps, background, input, context)
        : runInForeground(deps, background, input, context),
  });
}

/** Path of a program in a PATH-like list, or null. */
export function findProgram(name: string, path: string | undefined): string | null {
  for (const folder of (path ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter)) {
    if (folder === "") continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

function workdirOf(deps: ToolBoxDeps, input: Input, cwd: string): string {
  return input.workdir === undefined ? cwd : expandPath(input.workdir, cwd, toolHome(deps));
}

function existingDirectory(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new ToolError(
    "NO_SUCH_DIRECTORY",
    `${path} is not a directory; pass workdir with one that is`,
  );
}

async function runInBackground(
  deps: ToolBoxDeps,
  background: Background,
  input: Input,
  context: ToolContext,
): Promise<ToolOutput> {
  const cwd = existingDirectory(workdirOf(deps, input, context.cwd));
  const started = await background.start(input.command, cwd, input.notify_on_complete === true);
  return { process_id: started.id, pid: started.pid, log_path: started.logPath };
}

async function runInForeground(
  deps: ToolBoxDeps,
  background: Background,
  input: Input,
  context: ToolContext,
): Promise<ToolOutput> {
  const cwd = existingDirectory(workdirOf(deps, input, context.cwd));
  const startedMs = context.clock.monotonicMs();
  const sinceTicks = ticksNow();
  const group = await startGroup({
    command: input.command,
    cwd,
    env: toolEnvironment(deps, cwd),
    stdin: "empty",
  });
  const buffer = new OutputBuffer();
  const stopReading = readOutput(group, buffer, context);
  const ending = endEarly(group, context, timeoutMs(deps, input));
  const exit = await group.exited;
  const stopped = await ending.done();
  const left = await group.settle(context.clock);
  stopReading();
  if (stopped !== null) {
    const facts = {
      sessionId: deps.sessionId,
      home: deps.home,
      keepGroups: background.groups(),
      sinceTicks,
    };
    await endEscaped(facts, context.clock);
  }
  const next = group.cwd();
  // A workdir is for one call; only a command that ran in the session's own directory moves it.
  if (next !== null && input.workdir === undefined) context.setCwd(next);
  return {
    exit_code: exit.code,
    output: buffer.text(),
    cwd: input.workdir === undefined ? (next ?? cwd) : context.cwd,
    duration_ms: Math.round(context.clock.monotonicMs() - startedMs),
    ...(stopped === "timeout" ? { timed_out: true } : {}),
    ...(stopped === "interrupted" ? { interrupted: true } : {}),
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    ...(buffer.droppedBytes > 0 ? { truncated: true } : {}),
    ...(left && stopped === null ? { note: LEFT_NOTE } : {}),
  };
}

const LEFT_NOTE =
  "processes that the command left running were ended; start long-running ones with background: true";

function timeoutMs(deps: ToolBoxDeps, input: Input): number {
  const { timeout, max_timeout } = deps.settings.terminal;
  return Math.min(input.timeout ?? timeout, max_timeout) * 1000;
}

function readOutput(group: ProcessGroup, buffer: OutputBuffer, context: ToolContext): () => void {
  const decoder = new StringDecoder("utf8");
  group.output.on("data", (chunk: Buffer) => {
    buffer.push(chunk);
    const text = decoder.write(chunk);
    if (text !== "") context.output("stdout", text);
  });
  group.output.on("error", () => undefined);
  return () => {
    const rest = decoder.end();
    if (rest !== "") context.output("stdout", rest);
  };
}

interface EarlyEnd {
  /** Why the group was ended before its time, after it is gone; null when it was not. */
  done(): Promise<"timeout" | "interrupted" | null>;
}

function endEarly(group: ProcessGroup, context: ToolContext, limitMs: number): EarlyEnd {
  let reason: "timeout" | "interrupted" | null = null;
  let ended: Promise<void> | null = null;
  const end = (why: "timeout" | "interrupted"): void => {
    reason ??= why;
    ended ??= group.end(context.clock);
  };
  const onAbort = (): void => end("interrupted");
  const timer = context.clock.after(limitMs, () => end("timeout"));
  context.signal.addEventListener("abort", onAbort, { once: true });
  if (context.signal.aborted) onAbort();
  return {
    async done() {
      timer.cancel();
      context.signal.removeEventListener("abort", onAbort);
      await ended;
      return reason;
    },
  };
}
