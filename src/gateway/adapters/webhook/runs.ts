// Turns that webhooks start: one session each, a few at a time, the others in a short queue (agent.md §7.9).
import { messageOf } from "#base/errors.ts";
import { randomHex } from "#base/ids.ts";
import type { PlatformContext } from "../../platform.ts";
import type { LeaveTurn } from "../../turn-gate.ts";
import { workingDirectory } from "../../working-directory.ts";
import { INSTRUCTIONS } from "./render.ts";

const MOST_WAITING = 100;

export const SOURCE = "webhook";

interface Job {
  readonly runId: string;
  readonly route: string;
  readonly text: string;
  readonly leave: LeaveTurn;
}

export type Accepted =
  | { readonly ok: true; readonly runId: string }
  | { readonly ok: false; readonly reason: "ending" | "full" };

export class WebhookRuns {
  readonly #context: PlatformContext;
  readonly #waiting: Job[] = [];
  #running = 0;

  constructor(context: PlatformContext) {
    this.#context = context;
  }

  /** An accepted run counts as a turn from now on: a drain waits for it. */
  accept(route: string, text: string): Accepted {
    if (this.#waiting.length >= MOST_WAITING) return { ok: false, reason: "full" };
    const leave = this.#context.turns.enter();
    if (leave === null) return { ok: false, reason: "ending" };
    const job = { runId: `run_${randomHex(24)}`, route, text, leave };
    this.#waiting.push(job);
    this.#next();
    return { ok: true, runId: job.runId };
  }

  #next(): void {
    const most = this.#context.loaded().config.gateway.max_concurrent_turns;
    if (this.#running >= most) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running += 1;
    void this.#run(job).finally(() => {
      this.#running -= 1;
      job.leave();
      this.#next();
    });
  }

  async #run({ runId, route, text }: Job): Promise<void> {
    const { log } = this.#context;
    try {
      const { sessions } = await this.#context.conversations();
      const row = await sessions.start({
        source: SOURCE,
        cwd: workingDirectory(this.#context.loaded()),
        instructions: INSTRUCTIONS,
      });
      log.info("a webhook started a turn", { run: runId, route, session: row.id });
      await sessions.send(row.id, { text, surface: SOURCE, answerable: false });
      const result = await sessions.settled(row.id);
      log.info("its turn ended", { run: runId, session: row.id, outcome: result?.outcome });
    } catch (error) {
      log.error(`a webhook's turn failed: ${messageOf(error)}`, { run: runId, route });
    }
  }
}
