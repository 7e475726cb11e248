// The sessions to go on with: arrows, or typing to narrow the list.
import { Box, Text } from "ink";
import { matching } from "./picker-rows.ts";
import { Toned } from "./tone.tsx";
import type { Picker } from "./view.ts";

interface SessionPickerProps {
  readonly picker: Picker;
  readonly rows: number;
  readonly columns: number;
}

export function SessionPicker({ picker, rows, columns }: SessionPickerProps) {
  const found = matching(picker);
  const most = Math.max(1, rows - 4);
  const from = Math.max(0, Math.min(picker.marked - Math.floor(most / 2), found.length - most));
  return (
    <Box flexDirection="column" borderStyle="round" paddingX={1} width={columns}>
      <Text bold wrap="truncate-end">{`Go on with: ${picker.filter}▏`}</Text>
      {found.slice(from, from + most).map((row, index) => (
        <Text key={row.id} inverse={from + index === picker.marked} wrap="truncate-end">
          {row.title === "" ? row.id : row.title}
          {` · ${row.about}`}
        </Text>
      ))}
      {found.length === 0 ? <Toned tone="dim">none fits</Toned> : null}
      <Toned tone="dim" wrap="truncate-end">
        ↑ ↓ Enter · type to narrow · Esc
      </Toned>
    </Box>
  );
}
