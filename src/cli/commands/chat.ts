// `hermes` and `hermes chat`: one answer and out, or a conversation in the terminal (agent.md §1.3, D18).
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import type { ExitCode } from "#base/exit-codes.ts";
import { parseSwitch } from "#base/booleans.ts";
import { messageOf } from "#base/errors.ts";
import { answerOnce } from "../chat/one-shot.ts";
import { configWarnings, openChat, openChatWorkspace, type OpenChat } from "../chat/open-chat.ts";
import { choiceDeps, chooseSession } from "../chat/session-choice.ts";
import { usageError } from "../command-line.ts";
import { flagOption, numberOption, textOption, type Context } from "../context.ts";
import { wantedInterface } from "../run-flags.ts";

export async function run(context: Context): Promise<ExitCode> {
  const { line, io } = context;
  if (flagOption(line.options, "listTools") || flagOption(line.options, "listToolsets")) {
    const { printTools } = await import("../chat/list-tools.ts");
    return printTools(context);
  }
  const query = await readQuery(context);
  if (query !== null && isSingle(context)) return answer(context, query);
  if (io.interactive) return converse(context, query);
  const { serveInstead } = await import("../chat/serve-instead.ts");
  serveInstead(context);
  throw usageError(
    "A conversation needs a terminal on stdin and stdout.",
    'Without one ask a question: hermes chat -q "…"',
  );
}

/** One answer and out: where there is no terminal, or where it was asked for. */
function isSingle({ line, io }: Context): boolean {
  const { options } = line;
  return (
    !io.interactive ||
    io.json ||
    flagOption(options, "quiet") ||
    options["oneshot"] !== undefined ||
    options["format"] === "stream-json"
  );
}

async function readQuery({ line, io }: Context): Promise<string | null> {
  const { options } = line;
  const file = textOption(options, "queryFile");
  const query = textOption(options, "oneshot") ?? textOption(options, "query");
  if (file !== undefined && query !== undefined) {
    throw usageError("Give the message once: -q, -z or --query-file.");
  }
  const text = file === undefined ? query : await readQueryFile(file, io.stdin);
  if (text === undefined) return null;
  if (text.trim() === "") throw usageError("The message is empty.");
  return text;
}

/** A message has 256 Ki characters at most, and each has four bytes at most: what is longer is not read to its end. */
const MOST_BYTES = 1024 * 1024;

async function readQueryFile(path: string, stdin: NodeJS.ReadStream): Promise<string> {
  try {
    return await readMessage(path === "-" ? stdin : createReadStream(path));
  } catch (error) {
    throw usageError(`--query-file: ${messageOf(error)}.`);
  }
}

async function readMessage(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_BYTES)
      throw new Error("it is longer than a message may be; name its path instead");
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw new Error("it is not UTF-8 text");
  return bytes.toString("utf8");
}

async function answer(context: Context, text: string): Promise<ExitCode> {
  const { options } = context.line;
  let chat: OpenChat | null = null;
  try {
    return await answerOnce({
      io: context.io,
      format: options["format"] === "stream-json" ? "stream-json" : "text",
      text,
      surface: "cli",
      runBudget: numberOption(options, "runBudget"),
      usageFile: textOption(options, "usageFile"),
      redact: (message) => chat?.workspace.redactor.text(message) ?? message,
      async open() {
        chat = await openChat(context);
        for (const text of configWarnings(chat)) context.io.note(`hermes: ${text}`);
        const source = options["oneshot"] === undefined ? "cli" : "oneshot";
        const { session } = await chooseSession(choiceDeps(chat), options, source);
        return { sessions: chat.sessions, sessionId: session.id };
      },
    });
  } finally {
    await (chat as OpenChat | null)?.close();
  }
}

async function converse(context: Context, firstMessage: string | null): Promise<ExitCode> {
  const early = earlyInterface(context);
  const workspace = early === "unknown" ? await openChatWorkspace(context) : undefined;
  const wanted = workspace?.loaded().config.display.interface ?? early;
  if (wanted === "tui") {
    const { loadTui, runTui } = await import("../chat/start-tui.ts");
    const tui = await loadTui(context);
    if (tui) return runTui(context, tui, { workspace, firstMessage });
  }
  const chat = await openChat(context, workspace);
  try {
    for (const text of configWarnings(chat)) context.io.note(`hermes: ${text}`);
    const { startRepl } = await import("../chat/start-repl.ts");
    return await startRepl(context, chat, firstMessage);
  } finally {
    await chat.close();
  }
}

/** Which interface flags and environment name; `unknown` when only the files can say (agent.md §1.2). */
function earlyInterface({ launch, line }: Context): "cli" | "tui" | "unknown" {
  const flag = wantedInterface(line.options);
  if (flag !== undefined) return flag;
  const named = launch.env["HERMES_TUI"];
  if (named === undefined || named === "") return "unknown";
  return parseSwitch(named) === "on" ? "tui" : "cli";
}
