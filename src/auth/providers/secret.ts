// A value that is used but never shown: whatever prints it prints a placeholder.

const HIDDEN = "[secret]";

/** `reveal` is the only way to the text; string conversion, JSON and `console.log` give a placeholder. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return HIDDEN;
  }
}
