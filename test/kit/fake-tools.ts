// A ToolBox of scripted tools: no process, no file, every result decided by the test.
import { HARMLESS, ToolError } from "#agent/ports/tool.ts";
import type {
  Assessment,
  Parsed,
  Tool,
  ToolBox,
  ToolContext,
  ToolResult,
} from "#agent/ports/tool.ts";

export interface FakeToolOptions {
  readonly exclusive?: boolean;
  /** Issues for a bad input, null for a good one. */
  readonly check?: (input: unknown) => string | null;
  readonly assess?: (input: unknown, cwd: string) => Partial<Assessment>;
  readonly run: (
    input: unknown,
    context: ToolContext,
  ) => Promise<Readonly<Record<string, unknown>>> | Readonly<Record<string, unknown>>;
}

/** A tool that takes any object and runs `options.run`. */
export function fakeTool(name: string, options: FakeToolOptions): Tool {
  return {
    name,
    description: `the tool ${name}`,
    inputSchema: { type: "object" },
    toolset: "fake",
    exclusive: options.exclusive ?? false,
    untrusted: false,
    unavailable: () => null,
    parse: (input): Parsed => {
      const issues = options.check?.(input) ?? null;
      return issues === null ? { ok: true, value: input } : { ok: false, issues };
    },
    assess: async (input, { cwd }) => ({ ...HARMLESS, ...options.assess?.(input, cwd) }),
    run: async (input, context) => options.run(input, context),
  };
}

export interface FakeRun {
  readonly name: string;
  readonly input: unknown;
  readonly callId: string;
}

/** `runs` says what was really started, in order; `always` what was allowed for good. */
export class FakeToolBox implements ToolBox {
  readonly tools: readonly Tool[];
  readonly runs: FakeRun[] = [];
  readonly always: string[] = [];
  failAlways = false;

  constructor(tools: readonly Tool[]) {
    this.tools = tools;
  }

  find(name: string): Tool | null {
    return this.tools.find((tool) => tool.name === name) ?? null;
  }

  nearest(_name: string): readonly string[] {
    return this.tools.slice(0, 3).map((tool) => tool.name);
  }

  async execute(tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult> {
    this.runs.push({ name: tool.name, input, callId: context.callId });
    try {
      return resultOf(true, await tool.run(input, context));
    } catch (error) {
      const code = error instanceof ToolError ? error.code : "TOOL_FAILED";
      return { ...resultOf(false, { error: (error as Error).message, code }), code };
    }
  }

  async allowAlways(assessment: Assessment): Promise<void> {
    if (this.failAlways) throw new Error("read-only file system");
    this.always.push(assessment.allowKey);
  }

  async close(): Promise<void> {}
}

function resultOf(ok: boolean, value: Readonly<Record<string, unknown>>): ToolResult {
  const content = JSON.stringify(value);
  const summary = content.slice(0, 80);
  return { ok, content, summary, bytes: content.length, truncated: false };
}
