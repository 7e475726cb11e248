// `chat -q`: one question, one answer, one exit code (D18). stdout holds the answer and nothing else.
import type { ExitCode } from "#base/exit-codes.ts";
import type { AgentEvent } from "#protocol/events.ts";
import type { SessionService, TurnResult } from "#session/types.ts";
import type { Io } from "../io.ts";
import { oneLine, toHermesError } from "../report-error.ts";
import { exitOfEnd, listenForEnd, type RunEnd } from "./run-end.ts";
import {
  reportOf,
  reportOfRefusal,
  writeUsageFile,
  type RunFailure,
  type UsageReport,
} from "./usage-report.ts";

export interface OneShot {
  readonly io: Io;
  readonly format: "text" | "stream-json";
  readonly text: string;
  readonly surface: string;
  /** Seconds; undefined: what the configuration says. */
  readonly runBudget: number | undefined;
  readonly usageFile: string | undefined;
  /** Opens everything and chooses the session. What it throws is reported like a failed turn. */
  open(): Promise<{ readonly sessions: SessionService; readonly sessionId: string }>;
  redact(text: string): string;
}

/** Runs the turn to its end, prints the answer and returns the exit code. Never throws. */
export async function answerOnce(shot: OneShot): Promise<ExitCode> {
  const run = new Run(shot);
  const stopListening = listenForEnd(shot.io, (end) => run.end(end));
  try {
    return await run.answer();
  } finally {
    stopListening();
  }
}

class Run {
  readonly #shot: OneShot;
  #end: RunEnd | null = null;
  #interrupt: (() => void) | null = null;

  constructor(shot: OneShot) {
    this.#shot = shot;
  }

  /** The turn is interrupted and saved. A second signal does not wait for that. */
  end(end: RunEnd): void {
    if (this.#end !== null && end !== "pipe") process.exit(exitOfEnd(end));
    this.#end ??= end;
    this.#interrupt?.();
  }

  async answer(): Promise<ExitCode> {
    try {
      const { sessions, sessionId } = await this.#shot.open();
      try {
        const result = await this.#turn(sessions, sessionId);
        return this.#finish(result);
      } finally {
        await sessions.close(this.#end === null ? "done" : "shutdown");
      }
    } catch (error) {
      return this.#refuse(error);
    }
  }

  async #turn(sessions: SessionService, sessionId: string): Promise<TurnResult> {
    const { text, surface, runBudget } = this.#shot;
    const subscription = await sessions.subscribe(sessionId, null, ({ event }) => this.#see(event));
    this.#interrupt = () => void sessions.stop(sessionId);
    try {
      await sessions.send(sessionId, {
        text,
        surface,
        answerable: false,
        ...(runBudget === undefined ? {} : { runBudgetMs: runBudget * 1000 }),
      });
      if (this.#end !== null) await sessions.stop(sessionId);
      const result = await sessions.settled(sessionId);
      if (!result) throw new Error("the turn ended without a result");
      return result;
    } finally {
      subscription.close();
    }
  }

  #see(event: AgentEvent): void {
    if (this.#shot.format === "stream-json") this.#line(event);
    if (event.type === "notice" && event.level !== "info") this.#note(event.text);
    if (event.type === "model-retry") this.#note(event.message);
  }

  #finish(result: TurnResult): ExitCode {
    const { error } = result;
    const failure =
      error === null ? null : { code: error.code ?? error.kind, message: error.message };
    this.#print(reportOf(result, failure), result.text);
    if (this.#end !== null) return exitOfEnd(this.#end);
    if (failure !== null) this.#note(failure.message);
    else if (result.outcome === "budget") this.#note("The budget of this run is used up.");
    return result.exit;
  }

  #refuse(error: unknown): ExitCode {
    const known = toHermesError(error);
    const failure: RunFailure = { code: known.code, message: this.#shot.redact(oneLine(known)) };
    this.#print(reportOfRefusal(failure), "");
    if (this.#end !== null) return exitOfEnd(this.#end);
    this.#note(failure.message);
    return known.exit;
  }

  #print(report: UsageReport, text: string): void {
    const { io, format, usageFile } = this.#shot;
    if (usageFile !== undefined) this.#writeUsage(usageFile, report);
    if (format === "stream-json") this.#line({ ...report, text });
    else if (io.json) io.object({ ...report, text });
    else if (text !== "") io.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  #writeUsage(path: string, report: UsageReport): void {
    try {
      writeUsageFile(path, report);
    } catch (error) {
      this.#note(`--usage-file ${path} was not written: ${toHermesError(error).message}`);
    }
  }

  #line(value: unknown): void {
    if (this.#end !== "pipe") this.#shot.io.line(JSON.stringify(value));
  }

  #note(text: string): void {
    this.#shot.io.note(`hermes: ${this.#shot.redact(text)}`);
  }
}
