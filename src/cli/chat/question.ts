// A request of the agent as a question with numbered answers (REPL), and what a typed line answers.
import type { ApprovalChoice, ApprovalRequest, ClarifyRequest } from "#protocol/events.ts";
import type { ShellQuestion } from "./shell-command.ts";

export type Question =
  | ({ readonly type: "approval" } & ApprovalRequest)
  | ({ readonly type: "clarify" } & ClarifyRequest);

const LABELS: Readonly<Record<ApprovalChoice, string>> = {
  once: "once",
  session: "for this session",
  always: "always",
  deny: "deny",
};

/** Lines above the prompt. */
export function questionLines(question: Question): readonly string[] {
  if (question.type === "approval") return shellQuestionLines(question);
  const choices = question.choices.map((choice, index) => `  ${index + 1} ${choice}`);
  return [`? ${question.question}`, ...choices];
}

/** The same for an approval that no turn asks for. */
export function shellQuestionLines(question: ShellQuestion): readonly string[] {
  const choices = question.choices.map((choice, index) => `${index + 1} ${LABELS[choice]}`);
  return [
    `? ${question.title}`,
    `  ${question.detail}`,
    `  ${question.rule}`,
    `  ${choices.join(" · ")}`,
  ];
}

/** The choice that a typed line means: its number, its word or a beginning of it, yes, no. null: none of them. */
export function parseApproval(
  text: string,
  choices: readonly ApprovalChoice[],
): ApprovalChoice | null {
  const word = text.trim().toLowerCase();
  if (word === "") return null;
  if (/^\d+$/.test(word)) return choices[Number(word) - 1] ?? null;
  const meant =
    word === "y" || word === "yes" ? "once" : word === "n" || word === "no" ? "deny" : word;
  return choices.find((choice) => choice.startsWith(meant)) ?? null;
}

/** A number picks a choice; anything else is the answer itself. */
export function parseAnswer(text: string, choices: readonly string[]): string {
  const word = text.trim();
  return /^\d+$/.test(word) ? (choices[Number(word) - 1] ?? word) : word;
}
