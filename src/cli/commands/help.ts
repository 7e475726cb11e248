// `hermes help COMMAND`. The launcher answers it from the built table; here only what that could not find.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { nearestWords } from "#base/text.ts";
import { usageError } from "../command-line.ts";
import type { Context } from "../context.ts";
import { helpTable } from "../help-text.ts";
import { commandWords } from "../registry.ts";

export async function run({ line, io }: Context): Promise<ExitCode> {
  const words = line.operands.join(" ");
  const text = helpTable().texts[words];
  if (text === undefined) {
    const nearest = nearestWords(line.operands[0] ?? "", commandWords());
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(", ")}?` : "";
    throw usageError(`Unknown command: ${words}.${hint}`, "Read: hermes help");
  }
  io.write(text);
  return EXIT.ok;
}
