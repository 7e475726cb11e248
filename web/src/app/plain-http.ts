// Replaces what browsers keep from pages that came over plain http from another machine (no "secure context"):
// `crypto.randomUUID` and `navigator.clipboard` are missing there.

/** 32 hex digits, 128 random bits. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Rejects when the browser does not let us copy. Call it from a click or a key. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) await navigator.clipboard.writeText(text);
  else copyBySelection(text);
}

/** The old way: copies what is selected, and puts focus back where it was. */
function copyBySelection(text: string): void {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else copies without a secure context
  const done = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!done) throw new Error("the browser did not copy");
}
