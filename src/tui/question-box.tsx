// A question of the agent: the exact command or change, its reason, and numbered answers. Nothing is marked at first.
import { Box, Text } from "ink";
import { choiceLabels } from "./answers.ts";
import type { Question } from "./port.ts";
import { shown } from "./shown-text.ts";
import { Toned } from "./tone.tsx";
import type { QuestionBox as BoxState } from "./view.ts";

interface QuestionBoxProps {
  readonly question: Question;
  readonly box: BoxState;
  /** Rows for the detail. */
  readonly rows: number;
  readonly columns: number;
}

export function QuestionBox({ question, box, rows, columns }: QuestionBoxProps) {
  const isApproval = question.type === "approval";
  return (
    <Box flexDirection="column" borderStyle="round" paddingX={1} width={columns}>
      <Text bold>{shown(isApproval ? question.title : question.question)}</Text>
      {isApproval ? <Detail text={question.detail} rows={rows} columns={columns} /> : null}
      {isApproval ? <Toned tone="yellow">{shown(question.rule)}</Toned> : null}
      {choiceLabels(question).map((label, index) => (
        <Text key={index} inverse={box.marked === index}>
          {`${index + 1} ${shown(label)}`}
        </Text>
      ))}
      {isApproval ? null : <Text>{`› ${shown(box.typed)}▏`}</Text>}
      <Toned tone="dim" wrap="truncate-end">
        {isApproval ? "number or arrows, then Enter · Esc: later" : "Enter answers · Esc: later"}
      </Toned>
    </Box>
  );
}

/** What is too long stands whole above the box already. */
function Detail({
  text,
  rows,
  columns,
}: {
  readonly text: string;
  readonly rows: number;
  readonly columns: number;
}) {
  const whole = shown(text);
  if (fits(whole, rows, columns)) return <Toned tone="cyan">{whole}</Toned>;
  const first = whole.slice(0, Math.max(1, columns * (rows - 1)));
  return (
    <Box flexDirection="column">
      <Toned tone="cyan">
        {first
          .split("\n")
          .slice(0, Math.max(1, rows - 1))
          .join("\n")}
      </Toned>
      <Toned tone="red">… goes on: the whole of it is printed above</Toned>
    </Box>
  );
}

/** Whether a detail is shown whole in a box of that size; a generous estimate of its rows. */
export function fits(text: string, rows: number, columns: number): boolean {
  const width = Math.max(1, columns - 4);
  const lines = text.split("\n");
  const needed = lines.reduce(
    (sum, line) => sum + Math.max(1, Math.ceil((line.length * 1.2) / width)),
    0,
  );
  return needed <= rows;
}
