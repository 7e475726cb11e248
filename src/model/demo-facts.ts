// Facts of the demo model that others need without loading it (agent.md §3.6).

/** Context window in tokens. */
export const DEMO_WINDOW = 32_768;
/** First line of every answer. */
export const DEMO_LABEL = "[demo model: not an AI]";
/** Pause between two words unless HERMES_DEMO_DELAY_MS says otherwise. */
export const DEMO_DELAY_MS = 15;
