// The forms in which a secret can show up in text: as it is, base64 in its three alignments, hexadecimal, URL-encoded, JSON-escaped.

export interface Spelling {
  readonly name: string;
  readonly text: string;
  /** Line ends may stand inside (base64, hexadecimal). */
  readonly wraps: boolean;
}

/** Shorter values would hit ordinary words. */
const MIN_SECRET_CHARS = 8;

/** Every spelling of every secret, longest first, without doubles. */
export function spellingsOf(secrets: ReadonlyMap<string, string>): readonly Spelling[] {
  const byText = new Map<string, Spelling>();
  for (const [name, value] of secrets) {
    if (value.length < MIN_SECRET_CHARS) continue;
    for (const text of plainForms(value)) keep(byText, { name, text, wraps: false });
    for (const text of [...base64Forms(value), ...hexForms(value)])
      keep(byText, { name, text, wraps: true });
  }
  return [...byText.values()].sort((a, b) => b.text.length - a.text.length);
}

function keep(byText: Map<string, Spelling>, spelling: Spelling): void {
  if (!byText.has(spelling.text)) byText.set(spelling.text, spelling);
}

function plainForms(value: string): readonly string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  return [
    value,
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
    encoded.replaceAll("%20", "+"),
    JSON.stringify(value).slice(1, -1),
    // Lines of a value that spans several (a key file) leak one by one.
    ...value.split(/\r?\n/).filter((line) => line.length >= 2 * MIN_SECRET_CHARS),
  ];
}

/** As `xxd -p` and `%02X` print it. */
function hexForms(value: string): readonly string[] {
  const hex = Buffer.from(value, "utf8").toString("hex");
  return [hex, hex.toUpperCase()];
}

/** What base64 of any text around the secret must contain: the characters that depend on the secret alone. */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms: string[] = [];
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = encoded.slice(first, last);
    forms.push(core, core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}
