// What a stream has shown already. A retry withdraws text of an attempt that failed; a stream of chunks cannot (agent.md §3.4).

/** Gives the text to send for each delta, so that a client sees everything once where the new attempt says the same. */
export class SentText {
  /** Sent since the last model call began. */
  #sent = "";
  #current = "";
  #isAfterBreak = false;
  #hasAny = false;

  /** A new model call: what follows is a paragraph of its own. */
  begin(): void {
    this.#sent = "";
    this.#current = "";
    this.#isAfterBreak = this.#hasAny;
  }

  /** The attempt's text is withdrawn; another attempt follows. */
  discard(): void {
    this.#current = "";
  }

  add(text: string): string {
    this.#current += text;
    if (this.#sent.startsWith(this.#current)) return "";
    const more = this.#current.startsWith(this.#sent)
      ? this.#current.slice(this.#sent.length)
      : `\n\n${this.#current}`;
    this.#sent = this.#current;
    const lead = this.#isAfterBreak ? "\n\n" : "";
    this.#isAfterBreak = false;
    this.#hasAny = true;
    return lead + more;
  }
}
