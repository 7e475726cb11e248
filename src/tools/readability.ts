// Imported lazily. A CommonJS package needs a file like this: docs/decisions/2026-11-30-lazy-packages.md.
export { Readability } from "@mozilla/readability";
