// Matching lines with a pattern of the model's: a pattern that backtracks for ever is cut off by a time limit.
import { createContext, Script } from "node:vm";
import { messageOf } from "#base/errors.ts";
import { ToolError } from "#agent/ports/tool.ts";

const MAX_LINE_CHARS = 2000;

// Runs inside the vm: `text` and `pattern` come in, line numbers (from 0) go out as text.
const SEARCH = new Script(`
  (() => {
    const found = [];
    const lines = text.split("\\n");
    for (let at = 0; at < lines.length; at++) if (pattern.test(lines[at].slice(0, ${MAX_LINE_CHARS}))) found.push(at);
    return found.join(",");
  })()
`);
const COMPILE = new Script("new RegExp(source, flags)");

export interface LineMatcher {
  /** Numbers from 0 of the lines that match. Throws ToolError PATTERN_TOO_SLOW after `timeoutMs`. */
  match(text: string, timeoutMs: number): readonly number[];
}

/** Throws ToolError BAD_PATTERN. Case matters; `(?i:…)` is for patterns that do not care. */
export function compileLineMatcher(source: string): LineMatcher {
  const sandbox: { text: string; source: string; flags: string; pattern: unknown } = {
    text: "",
    source,
    flags: "u",
    pattern: null,
  };
  const context = createContext(sandbox);
  sandbox.pattern = compile(sandbox, context);
  return {
    match(text, timeoutMs) {
      sandbox.text = text;
      try {
        const found = SEARCH.runInContext(context, {
          timeout: Math.max(1, Math.ceil(timeoutMs)),
        }) as string;
        return found === "" ? [] : found.split(",").map(Number);
      } catch (error) {
        throw new ToolError("PATTERN_TOO_SLOW", `the pattern took too long: ${messageOf(error)}`);
      }
    },
  };
}

/** With `u` a stray escape is an error that ripgrep would accept, so the plain form is the second try. */
function compile(sandbox: { flags: string; source: string }, context: object): unknown {
  try {
    return COMPILE.runInContext(context);
  } catch {
    sandbox.flags = "";
  }
  try {
    return COMPILE.runInContext(context);
  } catch (error) {
    throw new ToolError("BAD_PATTERN", `${messageOf(error)}; write a regular expression`);
  }
}
