// The answer of one model call while it streams: redacted, kept as a draft, then shown, in that order.
import type { StreamRedactor } from "./ports/redactor.ts";
import type { TurnDeps } from "./ports/turn.ts";

type Kind = "text" | "reasoning";
type LiveDeps = Pick<TurnDeps, "store" | "redactor" | "emit" | "makeId">;

interface Block {
  readonly kind: Kind;
  readonly id: string;
  readonly stream: StreamRedactor;
}

/** `text` and `reasoning` are exactly what was shown; the stored row is made of them, so both are equal. */
export class LiveText {
  text = "";
  reasoning = "";
  readonly #deps: LiveDeps;
  readonly #owner: { readonly turnId: string; readonly sessionId: string };
  #block: Block | null = null;

  constructor(deps: LiveDeps, owner: { readonly turnId: string; readonly sessionId: string }) {
    this.#deps = deps;
    this.#owner = owner;
  }

  async push(kind: Kind, chunk: string): Promise<void> {
    if (this.#block?.kind !== kind) {
      await this.end();
      this.#block = {
        kind,
        id: this.#deps.makeId("block"),
        stream: this.#deps.redactor.stream(),
      };
    }
    await this.#show(this.#block, this.#block.stream.push(chunk));
  }

  /** The stream ended well: what was held back is shown. After a cut it is not, it may be the start of a secret (I10). */
  async end(): Promise<void> {
    const block = this.#block;
    this.#block = null;
    if (block) await this.#show(block, block.stream.flush());
  }

  async #show(block: Block, text: string): Promise<void> {
    if (text === "") return;
    if (block.kind === "text") {
      await this.#deps.store.appendDraft({ ...this.#owner, text });
      this.text += text;
    } else this.reasoning += text;
    this.#deps.emit({ type: `${block.kind}-delta`, blockId: block.id, text });
  }
}
