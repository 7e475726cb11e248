// Keys while a question is open: a number or the arrows mark, Enter answers, Esc puts it off (agent.md §10).
import { answerOf } from "./answers.ts";
import { withoutLast } from "./editor.ts";
import type { TuiKey } from "./keys.ts";
import type { Answer, Question } from "./port.ts";
import type { Action } from "./reduce.ts";
import type { QuestionBox } from "./view.ts";

const TYPED_LIMIT = 16_384;

export type BoxKey =
  | { readonly do: "dispatch"; readonly action: Action }
  | { readonly do: "answer"; readonly answer: Answer }
  /** It was meant for the message that was being typed. */
  | { readonly do: "type"; readonly text: string }
  | { readonly do: "nothing" };

export function boxKey(question: Question, box: QuestionBox, key: TuiKey): BoxKey {
  const count = question.choices.length;
  if (key.key === "escape") {
    return { do: "dispatch", action: { type: "box-closed", isClosed: true } };
  }
  if (key.key === "enter") {
    const answer = answerOf(question, box.marked, box.typed);
    return answer === null ? { do: "nothing" } : { do: "answer", answer };
  }
  if (key.key === "up" && count > 0) return mark(((box.marked ?? count) - 1 + count) % count, "");
  if (key.key === "down" && count > 0) return mark(((box.marked ?? -1) + 1) % count, "");
  if (key.key === "backspace") return mark(null, withoutLast(box.typed));
  if (key.key === "text" || key.key === "paste") return typed(question, box, key.text);
  return { do: "nothing" };
}

function typed(question: Question, box: QuestionBox, text: string): BoxKey {
  const isApproval = question.type === "approval";
  if (isApproval && !/^\d+$/.test(text)) return { do: "type", text };
  const words = isApproval ? text : `${box.typed}${text}`;
  const number = /^\d+$/.test(words) ? Number(words) : 0;
  const isChoice = number >= 1 && number <= question.choices.length;
  return mark(isChoice ? number - 1 : null, words.slice(0, TYPED_LIMIT));
}

function mark(marked: number | null, words: string): BoxKey {
  return { do: "dispatch", action: { type: "box", marked, typed: words } };
}
