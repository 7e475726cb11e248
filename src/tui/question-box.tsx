// A question of the agent: the exact command or change and numbered answers. Nothing is marked at first. What has no room
// here stands whole in the transcript above.
import { Box, Text } from "ink";
import type { ReactNode } from "react";
import { choiceLabels } from "./answers.ts";
import type { Question } from "./port.ts";
import { Toned } from "./tone.tsx";
import type { QuestionBox as BoxState } from "./view.ts";

interface QuestionBoxProps {
  readonly question: Question;
  readonly box: BoxState;
  /** Rows for all of it: 8 at least. */
  readonly rows: number;
  readonly columns: number;
}

export function QuestionBox({ question, box, rows, columns }: QuestionBoxProps) {
  const isFramed = rows >= 12;
  const isApproval = question.type === "approval";
  const around = (isFramed ? 2 : 0) + 1 + (isApproval ? 3 : question.choices.length + 1);
  return (
    <Box
      flexDirection="column"
      width={columns}
      {...(isFramed ? { borderStyle: "round", paddingX: 1 } : {})}
    >
      <Text bold wrap="truncate-end">
        {isApproval ? question.title : "The agent asks:"}
      </Text>
      <Clipped rows={rows - around - 1}>
        {isApproval ? (
          <Toned tone="cyan">{question.detail}</Toned>
        ) : (
          <Text>{question.question}</Text>
        )}
      </Clipped>
      {isApproval ? <Choices question={question} box={box} isInRow /> : null}
      {isApproval ? null : <Choices question={question} box={box} isInRow={false} />}
      {isApproval ? null : <Text wrap="truncate-start">{`› ${box.typed}▏`}</Text>}
      <Toned tone="dim" wrap="truncate-end">
        {isApproval ? "number or arrows, then Enter · Esc: later" : "Enter answers · Esc: later"}
      </Toned>
    </Box>
  );
}

function Choices({
  question,
  box,
  isInRow,
}: {
  readonly question: Question;
  readonly box: BoxState;
  readonly isInRow: boolean;
}) {
  return (
    <Box flexDirection={isInRow ? "row" : "column"} flexWrap="wrap" columnGap={2} flexShrink={0}>
      {choiceLabels(question).map((label, index) => (
        <Text key={index} inverse={box.marked === index} wrap="truncate-end">
          {`${index + 1} ${label}`}
        </Text>
      ))}
    </Box>
  );
}

/** The first rows of what may be long. */
function Clipped({ rows, children }: { readonly rows: number; readonly children: ReactNode }) {
  return (
    <Box flexDirection="column" maxHeight={Math.max(1, rows)} overflow="hidden">
      <Box flexShrink={0}>{children}</Box>
    </Box>
  );
}
