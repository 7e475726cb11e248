// TAI64N labels as s6 prints them (container.md §7.3): TAI seconds, which are 37 ahead of UTC since 2017.

const LABEL = /^@([0-9a-f]{16})([0-9a-f]{8})$/u;
const EPOCH = 2n ** 62n;
/** TAI − UTC since 2017. */
const LEAP_SECONDS = 37n;

/** Epoch milliseconds; null for anything that is no label. */
export function parseTai64n(text: string): number | null {
  const found = LABEL.exec(text);
  if (!found) return null;
  const seconds = BigInt(`0x${found[1] ?? ""}`) - EPOCH - LEAP_SECONDS;
  return Number(seconds) * 1000 + Math.floor(Number.parseInt(found[2] ?? "0", 16) / 1e6);
}
