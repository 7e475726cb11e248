// Puts together what one turn is given, from the configuration as it is now.
import { join } from "node:path";
import { makeSessionId, randomHex } from "#base/ids.ts";
import { buildSystemPrompt } from "#agent/prompt.ts";
import type { ModelTarget, ReasoningEffort } from "#agent/ports/model-client.ts";
import type { ToolBox } from "#agent/ports/tool.ts";
import type { TurnDeps, TurnSettings } from "#agent/ports/turn.ts";
import type { Config } from "#config/tree.ts";
import { rememberWindow } from "#model/remembered.ts";
import type { SessionRow, Usage } from "#protocol/messages.ts";
import type { SessionDeps } from "./deps.ts";
import type { LiveSession } from "./live-session.ts";
import { effortOfRow, instructionsOfRow, modelOfRow, type Models } from "./models.ts";
import { readPromptParts } from "./prompt-parts.ts";
import type { SendOptions } from "./types.ts";

export function makeTurnDeps(
  deps: SessionDeps,
  models: Models,
  live: LiveSession,
  row: SessionRow,
  tools: ToolBox,
  options: SendOptions,
): TurnDeps {
  const { loaded, store, clock, log, random, redactor } = deps;
  const { config } = loaded();
  const notice = (code: string) => (text: string) =>
    live.emit({ type: "notice", level: "warning", code, text: redactor.text(text) });
  let main: Promise<ModelTarget> | null = null;
  const choice = () => models.chooseOrDefault(modelOfRow(row), notice("MODEL_CHANGED"));
  const cacheDir = join(loaded().home, "cache");
  return {
    store,
    tools,
    clock,
    redactor,
    log,
    settings: turnSettings(
      config,
      options,
      deps.overrides.maxTurns,
      effortFor(deps, live, row, config),
    ),
    memory: live.memory,
    makeId: (prefix) => `${prefix}_${randomHex(16, random)}`,
    makeSessionId: () => makeSessionId(clock.now(), 6, random),
    async target() {
      main ??= models.open(choice());
      const target = await main;
      live.contextWindow = target.contextWindow;
      return target;
    },
    fallback: (index) => models.fallback(index),
    auxiliary: (task) => models.auxiliary(task, choice()),
    async rememberWindow(target, tokens) {
      const found = { tokens, from: "error", nowMs: clock.now() } as const;
      rememberWindow(cacheDir, target.provider, target.model, found);
    },
    async systemPrompt() {
      const parts = readPromptParts(
        {
          loaded: loaded(),
          cwd: live.memory.cwd,
          safeMode: deps.overrides.safeMode ?? false,
          toolNames: tools.tools.map((tool) => tool.name),
          nowMs: clock.now(),
        },
        notice("PROMPT_FILE"),
      );
      return buildSystemPrompt({ ...parts, formatting: instructionsOfRow(row) });
    },
    emit: (event) => live.emit(event),
    approval: (requestId) => live.approvals.wait(requestId),
    clarification: (requestId) => live.questions.wait(requestId),
    takeSteer: () => live.queue.takeSteer(),
    cost,
  };
}

/** Prices are not part of the program: only what certainly costs nothing has one. */
function cost(target: ModelTarget, _usage: Usage): number | null {
  return target.demo || ["ollama", "lmstudio", "llamacpp"].includes(target.provider) ? 0 : null;
}

function effortFor(
  deps: SessionDeps,
  live: LiveSession,
  row: SessionRow,
  config: Config,
): ReasoningEffort {
  return live.effort ?? deps.overrides.effort ?? effortOfRow(row) ?? config.agent.reasoning_effort;
}

function turnSettings(
  config: Config,
  options: SendOptions,
  maxTurns: number | undefined,
  effort: ReasoningEffort,
): TurnSettings {
  const { agent, approvals, compression, tool_loop_guardrails: guard } = config;
  const unattended =
    options.surface === "cli" ? approvals.single_query_mode : approvals.unattended_mode;
  return {
    maxTurns: maxTurns ?? agent.max_turns,
    runBudgetMs: options.runBudgetMs ?? agent.run_budget_seconds * 1000,
    apiMaxRetries: agent.api_max_retries,
    maxParallelTools: agent.max_parallel_tools,
    effort,
    approvals: {
      mode: approvals.mode,
      timeoutMs: approvals.timeout * 1000,
      unattended: unattended === "off" ? "allow" : "deny",
    },
    clarifyTimeoutMs: agent.clarify_timeout * 1000,
    guardrails: {
      enabled: guard.enabled,
      hardStop:
        guard.hard_stop === "always" || (guard.hard_stop === "unattended" && !options.answerable),
    },
    compression: {
      enabled: compression.enabled,
      threshold: compression.threshold,
      targetRatio: compression.target_ratio,
      protectFirst: compression.protect_first_n,
      protectLast: compression.protect_last_n,
    },
  };
}
