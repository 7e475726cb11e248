// The one question before something is deleted. Never asked without a terminal (agent.md §1.6).
import { EXIT } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { usageError } from "./command-line.ts";
import { flagOption, type Context } from "./context.ts";

/** Returns when it may go on: `-y`, or a yes. `form` is the command that needs no question. */
export async function confirm(context: Context, question: string, form: string): Promise<void> {
  if (flagOption(context.line.options, "yes")) return;
  if (!context.io.interactive || context.io.json) {
    throw usageError("This asks first, and there is no terminal.", `Without a question: ${form}`);
  }
  const { createInterface } = await import("node:readline/promises");
  const readline = createInterface({ input: context.io.stdin, output: context.io.stderr });
  // Ctrl-C and Ctrl-D close it without an answer.
  const closed = new Promise<string>((resolve) => {
    readline.once("close", () => resolve(""));
  });
  const answer = await Promise.race([readline.question(`${question} [y/N] `), closed]);
  readline.close();
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new HermesError("CANCELLED", "Nothing was changed.", { exit: EXIT.failed });
}
