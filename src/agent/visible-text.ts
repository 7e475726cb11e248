// Text that shows what it is: nothing invisible, nothing that reorders what is read (agent.md §4.4, §6.6).

/**
 * C0 and C1 controls except tab and line feed, soft hyphen, Arabic letter mark, Hangul and Mongolian fillers,
 * zero-width characters, bidirectional embeddings, overrides and isolates, invisible operators, the byte order mark,
 * interlinear anchors and the tag block. Source: Unicode UAX #9 (bidi) and the Default_Ignorable_Code_Point property.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]/gu;

/** The text without invisible and bidirectional control characters; CR LF becomes LF. */
export function stripHidden(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, "");
}
