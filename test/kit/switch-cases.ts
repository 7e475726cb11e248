// The table test/fixtures/booleans.tsv, for every surface that reads switches.
import { readFileSync } from "node:fs";
import type { SwitchState } from "#base/booleans.ts";

export interface SwitchCase {
  /** As it stands in the environment; undefined: unset. */
  readonly text: string | undefined;
  readonly state: SwitchState;
}

const path = new URL("../fixtures/booleans.tsv", import.meta.url);

export const SWITCH_CASES: readonly SwitchCase[] = readFileSync(path, "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [written = "", state] = line.split("\t");
    const text = written === "<unset>" ? undefined : written === "<empty>" ? "" : written;
    return { text, state: state as SwitchState };
  });
