// JavaScript of the first page, gzipped: entry, its static imports and the chat route (product.md §4).
import { gzipSync } from "node:zlib";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { report, ROOT } from "./measure.ts";

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const DIST = join(ROOT, "dist", "web");

export async function spaSize(): Promise<void> {
  const path = join(DIST, ".vite", "manifest.json");
  if (!existsSync(path)) {
    console.log("skipped: the browser app is not built");
    return;
  }
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, Chunk>>;
  const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry === true) ?? "";
  const chat = (manifest[entry]?.dynamicImports ?? []).filter((key) => /chat/iu.test(key));
  const keys = new Set<string>();
  const walk = (key: string): void => {
    if (keys.has(key)) return;
    keys.add(key);
    for (const next of manifest[key]?.imports ?? []) walk(next);
  };
  for (const key of [entry, ...chat]) walk(key);
  const bytes = [...keys].reduce(
    (sum, key) => sum + gzipSync(readFileSync(join(DIST, manifest[key]?.file ?? ""))).length,
    0,
  );
  report("first page, JavaScript gzipped", { KB: bytes / 1000, chunks: keys.size, goal: "<= 180" });
}
