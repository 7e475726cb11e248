// Text that tries to steer the agent (agent.md §4.4): context files and skills that match are left out.
import type { RuleHit } from "#agent/ports/tool.ts";
import { INJECTION } from "./policy.ts";

let compiled: readonly { readonly hit: RuleHit; readonly pattern: RegExp }[] | null = null;

/** The first rule of policy/injection.json that matches, or null. */
export function matchesInjection(text: string): RuleHit | null {
  compiled ??= INJECTION.map((rule) => ({
    hit: { id: `injection/${rule.id}`, reason: rule.reason },
    pattern: new RegExp(rule.pattern, rule.flags ?? "i"),
  }));
  return compiled.find((entry) => entry.pattern.test(text))?.hit ?? null;
}
