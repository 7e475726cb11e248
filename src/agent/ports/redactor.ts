// Port to redaction (agent.md §5.7). Implemented in the `tools` room from policy/redaction.json and known secret values.

/** One stream of text: a tail that may begin a known secret is held back until it cannot. */
export interface StreamRedactor {
  /** What can be shown now. */
  push(text: string): string;
  /** The rest, at the end of the stream. */
  flush(): string;
}

export interface Redactor {
  text(text: string): string;
  /** Every string in a JSON-like value, keys included. */
  value<T>(value: T): T;
  stream(): StreamRedactor;
}
