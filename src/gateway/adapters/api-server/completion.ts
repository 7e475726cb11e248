// One turn for one request: the session it belongs to, its events, its result.
import type { AgentEvent } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { TurnResult } from "#session/types.ts";
import type { Conversations, PlatformContext } from "../../platform.ts";
import { workingDirectory } from "../../working-directory.ts";
import type { CompletionInput } from "./completion-input.ts";
import { ApiFailure, ending, ofTurnError, toApiFailure } from "./errors.ts";

export const SOURCE = "api-server";

export interface Run {
  readonly sessionId: string;
  /** Resolves with the result of the turn; rejects with ApiFailure when it failed or was interrupted. */
  readonly result: Promise<TurnResult>;
  /** The client is gone. */
  readonly abort: () => void;
}

export interface RunRequest {
  readonly input: CompletionInput;
  /** `X-Hermes-Session-Id`: continue that stored session; only the last user message counts. */
  readonly sessionId: string | undefined;
  readonly onEvent: (event: AgentEvent) => void;
}

/** Places in use; the caller gives back its own. */
export class Places {
  #used = 0;
  take(most: number): (() => void) | null {
    if (this.#used >= most) return null;
    this.#used += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#used -= 1;
      isHeld = false;
    };
  }
}

/** Resolves once the user's message is stored and the turn runs. Throws ApiFailure. */
export async function startRun(
  context: PlatformContext,
  places: Places,
  request: RunRequest,
): Promise<Run> {
  const most = context.loaded().config.platforms.api_server.max_concurrent_runs;
  const leavePlace = places.take(most);
  if (leavePlace === null) {
    const message = `${most} requests run already (platforms.api_server.max_concurrent_runs)`;
    throw new ApiFailure(429, "rate_limit_exceeded", message, { headers: { "Retry-After": "2" } });
  }
  const leaveTurn = context.turns.enter();
  const leave = (): void => {
    leavePlace();
    leaveTurn?.();
  };
  try {
    if (leaveTurn === null) throw ending();
    const { run, done } = await begin(context, request);
    void done.then(leave, leave);
    return run;
  } catch (error) {
    leave();
    throw failureOf(context, error);
  }
}

async function begin(
  context: PlatformContext,
  { input, sessionId, onEvent }: RunRequest,
): Promise<{ run: Run; done: Promise<unknown> }> {
  const { sessions, archive } = await context.conversations();
  const cwd = workingDirectory(context.loaded());
  const row = await sessionFor({ sessions, archive }, input, { sessionId, cwd });
  const { lastEventId } = await sessions.state(row.id);
  const watch = await sessions.subscribe(row.id, lastEventId, ({ event }) => onEvent(event));
  try {
    await sessions.send(row.id, { text: input.text, surface: SOURCE, answerable: false });
  } catch (error) {
    watch.close();
    throw error;
  }
  const ended = sessions.settled(row.id).finally(() => watch.close());
  const result = ended.then(resultOf, (error: unknown) => {
    throw failureOf(context, error);
  });
  result.catch(() => undefined);
  const abort = (): void => void sessions.stop(row.id).catch(() => undefined);
  return { run: { sessionId: row.id, result, abort }, done: ended };
}

async function sessionFor(
  { sessions, archive }: Conversations,
  input: CompletionInput,
  { sessionId, cwd }: { readonly sessionId: string | undefined; readonly cwd: string },
): Promise<SessionRow> {
  if (sessionId === undefined) {
    const { instructions, history } = input;
    return sessions.start({
      source: SOURCE,
      cwd,
      history,
      ...(instructions === null ? {} : { instructions }),
    });
  }
  // The id itself, not a prefix or a title: a client must not reach a conversation by a guess.
  if ((await archive.getSession(sessionId)) === null) {
    throw new ApiFailure(404, "session_not_found", `There is no session ${sessionId.slice(0, 80)}`);
  }
  return (await archive.newestDescendant(sessionId)).session;
}

function resultOf(result: TurnResult | null): TurnResult {
  if (result === null || result.outcome === "interrupted") throw ending();
  if (result.outcome === "failed") throw ofTurnError(result.error);
  return result;
}

function failureOf(context: PlatformContext, error: unknown): ApiFailure {
  const failure = toApiFailure(error);
  if (failure.status >= 500 && !(error instanceof ApiFailure))
    context.log.error("a request to the API failed", { error });
  return failure;
}
