// Options of one run that beat variables and the file; they are never saved (agent.md §1.2).

export interface ConfigFlags {
  /** `-m`: model id or PROVIDER:ID. */
  readonly model?: string;
  /** `--provider`. */
  readonly provider?: string;
  /** `--reasoning`. */
  readonly reasoning?: string;
  /** `--max-turns`. */
  readonly maxTurns?: number;
  /** `--run-budget`, seconds. */
  readonly runBudget?: number;
  /** `--yolo`: approvals.mode off. */
  readonly yolo?: boolean;
  /** `-t`: tool sets of this run. */
  readonly toolsets?: readonly string[];
  /** `--safe-mode`: built-in defaults; see safe-mode.ts for what still counts. */
  readonly safeMode?: boolean;
  /** `--cli`, `--tui`. */
  readonly interface?: "cli" | "tui";
}
