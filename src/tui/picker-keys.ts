// Keys in the resume picker: arrows and Enter, or typing to narrow the list.
import { withoutLast } from "./editor.ts";
import type { TuiKey } from "./keys.ts";
import { matching } from "./picker-rows.ts";
import type { Action } from "./reduce.ts";
import type { Picker } from "./view.ts";

const FILTER_LIMIT = 200;

export type PickerKey =
  | { readonly do: "dispatch"; readonly action: Action }
  | { readonly do: "resume"; readonly id: string }
  | { readonly do: "nothing" };

export function pickerKey(picker: Picker, key: TuiKey): PickerKey {
  const rows = matching(picker);
  const { filter, marked } = picker;
  if (key.key === "escape") return { do: "dispatch", action: { type: "picker-closed" } };
  if (key.key === "up") return set(filter, Math.max(0, marked - 1));
  if (key.key === "down") return set(filter, Math.max(0, Math.min(rows.length - 1, marked + 1)));
  if (key.key === "backspace") return set(withoutLast(filter), 0);
  if (key.key === "text" || key.key === "paste") {
    return set(`${filter}${key.text}`.slice(0, FILTER_LIMIT), 0);
  }
  const row = rows[marked];
  return key.key === "enter" && row ? { do: "resume", id: row.id } : { do: "nothing" };
}

function set(filter: string, marked: number): PickerKey {
  return { do: "dispatch", action: { type: "picker", filter, marked } };
}
