// Titles are made in the background after the first answer, and never replace one that a person gave (agent.md §6.6).
import { isHermesError, messageOf } from "#base/errors.ts";
import type { ModelTarget } from "#agent/ports/model-client.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { cleanTitle, firstLineTitle, titlePrompt } from "#agent/title.ts";
import type { SessionRow } from "#protocol/messages.ts";

/** Same titles are numbered: `Plan #2`, … */
const MAX_TRIES = 50;
const MAX_TOKENS = 64;

export interface TitleTask {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly userText: string;
  readonly answer: string;
  /** null: no model is asked (the demo model, or none is left). */
  readonly target: (() => Promise<ModelTarget>) | null;
  readonly signal: AbortSignal;
  readonly onFailure: (message: string) => void;
}

/** The title that was stored, or null when there was one already or nothing could be made of the text. */
export async function makeTitle(task: TitleTask): Promise<string | null> {
  const asked = task.target ? await askModel(task, task.target) : null;
  const title = asked ?? firstLineTitle(task.userText);
  const row = await task.store.getSession(task.sessionId);
  if (title === null || !row || row.title !== null) return null;
  return storeTitle(task.store, task.sessionId, title, asked === null ? "first-line" : "model");
}

/** Gives the session this title, with ` #n` where another one has it. */
export async function storeTitle(
  store: SessionStore,
  sessionId: string,
  title: string,
  titleSource: SessionRow["titleSource"],
): Promise<string> {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? title : `${title} #${n}`;
    try {
      await store.updateSession(sessionId, { title: candidate, titleSource });
      return candidate;
    } catch (error) {
      if (!isHermesError(error, "TITLE_TAKEN") || n === MAX_TRIES) throw error;
    }
  }
}

async function askModel(task: TitleTask, open: () => Promise<ModelTarget>): Promise<string | null> {
  try {
    const target = await open();
    if (target.demo) return null;
    const { system, text } = titlePrompt(task.userText, task.answer);
    let answer = "";
    const events = target.client.stream({
      system,
      messages: [{ role: "user", text }],
      tools: [],
      toolChoice: "none",
      effort: "",
      maxOutputTokens:
        target.maxOutputTokens === null ? null : Math.min(MAX_TOKENS, target.maxOutputTokens),
      signal: task.signal,
    });
    for await (const event of events) {
      if (event.type === "text-delta") answer += event.text;
      if (event.type === "error") {
        task.onFailure(event.error.message);
        return null;
      }
    }
    return cleanTitle(answer);
  } catch (error) {
    task.onFailure(messageOf(error));
    return null;
  }
}
