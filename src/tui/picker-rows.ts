// The sessions of the picker that fit what was typed.
import type { PickerRow } from "./port.ts";
import type { Picker } from "./view.ts";

export function matching(picker: Pick<Picker, "rows" | "filter">): readonly PickerRow[] {
  const words = picker.filter.toLowerCase().split(/\s+/).filter(Boolean);
  return picker.rows.filter((row) => {
    const text = `${row.id} ${row.title} ${row.about}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
