// The choices of a question and what Enter means in its box.
import type { ApprovalChoice } from "#protocol/events.ts";
import type { Answer, Question } from "./port.ts";

const LABELS: Readonly<Record<ApprovalChoice, string>> = {
  once: "once",
  session: "for this session",
  always: "always",
  deny: "deny",
};

export function choiceLabels(question: Question): readonly string[] {
  return question.type === "approval"
    ? question.choices.map((choice) => LABELS[choice])
    : question.choices;
}

/** null: nothing was chosen yet. A question without a fitting choice takes the typed words. */
export function answerOf(question: Question, marked: number | null, typed: string): Answer | null {
  if (question.type === "approval") {
    const choice = marked === null ? undefined : question.choices[marked];
    return choice === undefined ? null : { type: "approval", choice };
  }
  const answer = (marked === null ? undefined : question.choices[marked]) ?? typed.trim();
  return answer === "" ? null : { type: "clarify", answer };
}
