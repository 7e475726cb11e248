// What is finished: printed once above the live area, from then on the terminal's own scroll-back.
import { Box, Static, Text } from "ink";
import type { Question } from "./port.ts";
import { ToolCard } from "./tool-card.tsx";
import { Toned } from "./tone.tsx";
import type { Item, View } from "./view.ts";

export function Transcript({ view, columns }: { readonly view: View; readonly columns: number }) {
  const items = view.items.slice(view.printedFrom);
  return (
    <Static key={view.drawing} items={items} style={{ width: columns }}>
      {(item, index) => <Piece key={index} item={item} />}
    </Static>
  );
}

function Piece({ item }: { readonly item: Item }) {
  switch (item.kind) {
    case "said":
      return (
        <Box marginTop={1}>
          <Toned tone="cyan">{"› "}</Toned>
          <Text bold>{item.text}</Text>
        </Box>
      );
    case "answer":
    case "text":
      return <Text>{item.text}</Text>;
    case "reasoning":
      return <Toned tone="dim">{item.text}</Toned>;
    case "line":
      return <Toned tone={item.tone}>{item.text}</Toned>;
    case "question":
      return <AskedQuestion question={item.question} />;
    case "tool":
      return <ToolCard call={item.call} isUnfolded={item.unfolded} nowMs={0} frame={0} />;
  }
}

function AskedQuestion({ question }: { readonly question: Question }) {
  if (question.type === "clarify") return <Text bold>{`? ${question.question}`}</Text>;
  return (
    <Box flexDirection="column">
      <Text bold>{`? ${question.title}`}</Text>
      <Toned tone="cyan">{question.detail}</Toned>
      <Toned tone="yellow">{question.rule}</Toned>
    </Box>
  );
}
