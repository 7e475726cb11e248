// One turn, from the user's message to the final answer (agent.md §4).
import type { TurnDeps, TurnEnd, TurnInput } from "./ports/turn.ts";

export async function runTurn(_input: TurnInput, _deps: TurnDeps): Promise<TurnEnd> {
  throw new Error("being built");
}
