// What the rows of a conversation can ask for.

export interface RowActions {
  readonly retry: () => void;
  readonly proceed: () => void;
  readonly compress: () => void;
  readonly sendAgain: (clientId: string) => void;
  readonly discard: (clientId: string) => void;
  /** Says a text of the user anew: it and all after it are taken out. null while the agent is busy. */
  readonly resend: ((messageId: number, text: string) => void) | null;
}
