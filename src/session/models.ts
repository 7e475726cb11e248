// Which model a session uses, and the opened targets that its turns share.
import { join } from "node:path";
import { isHermesError, messageOf } from "#base/errors.ts";
import type { ModelTarget, ReasoningEffort } from "#agent/ports/model-client.ts";
import {
  auxiliaryTimeoutMs,
  chooseAuxiliary,
  chooseFallback,
  chooseModel,
  type ModelChoice,
} from "#model/choose.ts";
import type { OpenDeps } from "#model/open.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { SessionDeps } from "./deps.ts";

export type AuxiliaryTask = "compression" | "title_generation";

export interface SessionModel {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** What a session row says of its model; `modelConfig.provider` names who serves it. */
export function modelOfRow(row: SessionRow): SessionModel {
  const provider = row.modelConfig["provider"];
  return {
    model: row.model ?? undefined,
    provider: typeof provider === "string" ? provider : undefined,
  };
}

export function effortOfRow(row: SessionRow): ReasoningEffort | null {
  const effort = row.modelConfig["reasoning_effort"];
  return typeof effort === "string" ? asEffort(effort) : null;
}

/** System text of the caller that the session was started with. */
export function instructionsOfRow(row: SessionRow): string | null {
  const { instructions } = row.modelConfig;
  return typeof instructions === "string" ? instructions : null;
}

const EFFORTS: readonly ReasoningEffort[] = ["", "none", "low", "medium", "high"];

export function asEffort(text: string): ReasoningEffort | null {
  return EFFORTS.find((effort) => effort === text) ?? null;
}

export class Models {
  readonly #deps: SessionDeps;
  #opened = new Map<string, Promise<ModelTarget>>();
  #openedFor: unknown = null;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /** Flags of the run, then what the session remembers, then the configuration. Throws MODEL_NOT_CONFIGURED and kin. */
  choose(session: SessionModel): ModelChoice {
    const { overrides } = this.#deps;
    const own = { provider: overrides.provider, model: overrides.model };
    const named = own.provider !== undefined || own.model !== undefined ? own : session;
    return this.#choose(named);
  }

  /** As `choose`; a session whose own model cannot be used any more goes on with the configured one and says so. */
  chooseOrDefault(session: SessionModel, notice: (text: string) => void): ModelChoice {
    try {
      return this.choose(session);
    } catch (error) {
      if (!isHermesError(error) || session.model === undefined) throw error;
      const choice = this.#choose({});
      notice(
        `${session.provider ?? ""}:${session.model} cannot be used (${error.message}); going on with ${choice.provider}:${choice.model}`,
      );
      return choice;
    }
  }

  async open(choice: ModelChoice): Promise<ModelTarget> {
    const { openTarget } = await import("#model/open.ts");
    const loaded = this.#deps.loaded();
    if (this.#openedFor !== loaded) {
      this.#opened = new Map();
      this.#openedFor = loaded;
    }
    const key = `${choice.source} ${choice.provider} ${choice.baseUrl} ${choice.model}`;
    const opened = this.#opened.get(key) ?? openTarget(choice, this.#openDeps());
    this.#opened.set(key, opened);
    opened.catch(() => this.#opened.delete(key));
    return opened;
  }

  /** The n-th usable fallback; one that cannot be used is logged and skipped by answering with the next. */
  async fallback(index: number): Promise<ModelTarget | null> {
    const { config, env } = this.#deps.loaded();
    try {
      const choice = chooseFallback(config, (name) => env.get(name), index);
      return choice ? await this.open(choice) : null;
    } catch (error) {
      this.#deps.log.warn("a fallback provider cannot be used", { index, error: messageOf(error) });
      return index + 1 < config.fallback_providers.length ? this.fallback(index + 1) : null;
    }
  }

  /** Limit of a whole auxiliary call in milliseconds. */
  auxiliaryTimeoutMs(task: AuxiliaryTask): number {
    return auxiliaryTimeoutMs(this.#deps.loaded().config, task);
  }

  /** The main model serves a task that has none of its own, then with its own watchdogs: a local one may be slow. */
  async auxiliary(task: AuxiliaryTask, main: ModelChoice): Promise<ModelTarget> {
    const { config, env } = this.#deps.loaded();
    const choice = chooseAuxiliary(config, (name) => env.get(name), task, main);
    const target = await this.open(choice);
    if (choice === main) return target;
    const limitMs = auxiliaryTimeoutMs(config, task);
    return {
      ...target,
      firstByteTimeoutMs: Math.min(target.firstByteTimeoutMs, limitMs),
      chunkTimeoutMs: Math.min(target.chunkTimeoutMs, limitMs),
    };
  }

  #openDeps(): OpenDeps {
    const { config, env, home } = this.#deps.loaded();
    const delay = Number(env.get("HERMES_DEMO_DELAY_MS") ?? "");
    return {
      settings: config,
      secret: (name) => env.get(name),
      clock: this.#deps.clock,
      cacheDir: join(home, "cache"),
      log: this.#deps.log,
      demoDelayMs: env.get("HERMES_DEMO_DELAY_MS") && delay >= 0 ? delay : undefined,
      redact: (text) => this.#deps.redactor.text(text),
    };
  }

  #choose(named: SessionModel): ModelChoice {
    const { config, env } = this.#deps.loaded();
    return chooseModel(config, (name) => env.get(name), named);
  }
}
