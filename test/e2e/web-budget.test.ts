// What the first page costs (product.md §4, dashboard.md §12.1), measured over the manifest of a fresh build.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildWebApp } from "../kit/web-app.ts";

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const KB = 1000;
const CHAT = "src/pages/chat/chat-page.tsx";

function withImports(manifest: Readonly<Record<string, Chunk>>, names: readonly string[]) {
  const found = new Map<string, Chunk>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const chunk = manifest[name];
    assert.ok(chunk, `the manifest has no ${name}`);
    if (found.has(name)) continue;
    found.set(name, chunk);
    open.push(...(chunk.imports ?? []));
  }
  return [...found.values()];
}

test("first page ≤ 180 KB of gzipped JavaScript, CSS ≤ 30 KB, any other chunk ≤ 100 KB", async () => {
  const folder = await buildWebApp();
  const manifest = JSON.parse(
    readFileSync(join(folder, ".vite", "manifest.json"), "utf8"),
  ) as Record<string, Chunk>;
  const gzipped = (file: string) => gzipSync(readFileSync(join(folder, file))).length;
  const entries = Object.keys(manifest).filter((name) => manifest[name]?.isEntry === true);
  const first = withImports(manifest, [...entries, CHAT]).map((chunk) => chunk.file);
  const total = first.reduce((sum, file) => sum + gzipped(file), 0);
  assert.ok(total <= 180 * KB, `the first page is ${total} bytes: ${first.join(", ")}`);
  const assets = readdirSync(join(folder, "assets"));
  const css = assets.filter((name) => name.endsWith(".css"));
  const styles = css.reduce((sum, name) => sum + gzipped(join("assets", name)), 0);
  assert.ok(styles > 0 && styles <= 30 * KB, `the styles are ${styles} bytes`);
  const others = assets
    .filter((name) => name.endsWith(".js"))
    .map((name) => join("assets", name))
    .filter((file) => !first.includes(file));
  assert.ok(others.length > 0);
  for (const file of others) {
    assert.ok(gzipped(file) <= 100 * KB, `${file} is ${gzipped(file)} bytes`);
  }
});

test("index.html: URLs relative to the page, no inline script, nothing from another host", async () => {
  const html = readFileSync(join(await buildWebApp(), "index.html"), "utf8");
  assert.match(html, /<script type="module"[^>]* src="\.\/assets\//);
  for (const [, attribute] of html.matchAll(/(?:src|href)="([^"]*)"/g)) {
    assert.match(attribute ?? "", /^\.\//);
  }
  assert.doesNotMatch(html, /<script[^>]*>[^<]/);
});
