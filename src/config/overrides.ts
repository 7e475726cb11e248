// Flags and variables as values that beat the file: flag > variable > config.yaml > default (agent.md §2.3).
import { parseSwitch } from "#base/booleans.ts";
import type { Problem } from "#base/errors.ts";
import type { ConfigFlags } from "./flags.ts";
import { VARIABLES, type Variable } from "./env.ts";
import type { Override } from "./evaluate.ts";
import type { EffectiveEnv } from "./loaded.ts";
import { warning } from "./problems.ts";
import { nodeAt } from "./shape.ts";

export interface Overrides {
  readonly byKey: ReadonlyMap<string, readonly Override[]>;
  readonly problems: readonly Problem[];
}

export function openOverrides(flags: ConfigFlags, env: EffectiveEnv): Overrides {
  const byKey = new Map<string, Override[]>();
  const problems: Problem[] = [];
  const put = (key: string, override: Override): void => {
    byKey.set(key, [...(byKey.get(key) ?? []), override]);
  };
  for (const [key, from, value] of flagValues(flags)) put(key, { value, from, kind: "flag" });
  for (const variable of VARIABLES) {
    const text = env.get(variable.name);
    if (text === undefined) continue;
    const value = valueOf(variable, text, problems);
    if (variable.sets !== null && value !== undefined) {
      put(variable.sets, { value, from: variable.name, kind: "env" });
    }
  }
  return { byKey, problems };
}

function* flagValues(flags: ConfigFlags): Generator<[key: string, from: string, value: unknown]> {
  if (flags.model !== undefined) yield ["model.default", "--model", flags.model];
  if (flags.provider !== undefined) yield ["model.provider", "--provider", flags.provider];
  if (flags.reasoning !== undefined)
    yield ["agent.reasoning_effort", "--reasoning", flags.reasoning];
  if (flags.maxTurns !== undefined) yield ["agent.max_turns", "--max-turns", flags.maxTurns];
  if (flags.runBudget !== undefined) {
    yield ["agent.run_budget_seconds", "--run-budget", flags.runBudget];
  }
  if (flags.yolo === true) yield ["approvals.mode", "--yolo", "off"];
  if (flags.toolsets !== undefined) yield ["toolsets", "--toolsets", flags.toolsets];
  if (flags.interface !== undefined) {
    yield ["display.interface", `--${flags.interface}`, flags.interface];
  }
  if (flags.safeMode === true) {
    yield ["agent.context_files", "--safe-mode", false];
    yield ["memory.memory_enabled", "--safe-mode", false];
    yield ["memory.user_profile_enabled", "--safe-mode", false];
  }
}

function valueOf(variable: Variable, text: string, problems: Problem[]): unknown {
  if (!isSwitch(variable)) return variable.secret ? text : text.trim();
  const state = parseSwitch(text.trim());
  if (state === "unclear") problems.push(unclear(variable.name, text.trim()));
  const isOn = state === "on";
  if (variable.switch === undefined) return isOn;
  return isOn ? variable.switch.on : variable.switch.off;
}

function isSwitch(variable: Variable): boolean {
  if (variable.flag === true || variable.switch !== undefined) return true;
  const node = variable.sets === null ? null : nodeAt(variable.sets.split("."));
  return node?.kind === "leaf" && (node.type === "boolean" || node.type === "auto-flag");
}

function unclear(name: string, text: string): Problem {
  return warning("SWITCH_UNCLEAR", name, `${name}: ${JSON.stringify(text)} counts as off`, {
    fix: "Use 1, true or yes for on; 0, false, no or off for off.",
  });
}
