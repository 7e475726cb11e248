// The built browser app: a list of its files made from the folder, so that no request path ever reaches the file system.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".gif": "image/gif",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".otf": "font/otf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".ttf": "font/ttf",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".webp": "image/webp",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
};

const COMPRESSIBLE = new Set([
  ".css",
  ".html",
  ".js",
  ".json",
  ".map",
  ".mjs",
  ".svg",
  ".txt",
  ".webmanifest",
]);
const HASHED = /^\/assets\/.+-[A-Za-z0-9_-]{8,}\.\w+$/;
const SMALLEST_COMPRESSED_BYTES = 1024;

export interface StaticRequest {
  /** Dispatched path, `/assets/x.js`. */
  readonly path: string;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export interface StaticFiles {
  /** null: no such file. */
  answer(request: StaticRequest): Promise<Response | null>;
  /** Text of index.html, read again when it changed; null without a build. */
  index(): string | null;
}

interface Entry {
  readonly file: string;
  readonly etag: string;
  readonly bytes: Buffer;
  readonly compressed: Map<string, Promise<Buffer>>;
}

export function createStaticFiles(folder: string): StaticFiles {
  let version = "";
  let files = new Map<string, string>();
  const loaded = new Map<string, Entry>();
  let index: string | null = null;

  /** A new build replaces index.html: everything is looked at again. */
  const look = (): void => {
    const stat = statSync(join(folder, "index.html"), { throwIfNoEntry: false });
    const now = stat ? `${stat.mtimeMs}:${stat.size}:${stat.ino}` : "none";
    if (now === version) return;
    version = now;
    loaded.clear();
    files = stat ? listFiles(folder) : new Map();
    index = stat ? readFileSync(join(folder, "index.html"), "utf8") : null;
  };

  return {
    async answer({ path, acceptEncoding, ifNoneMatch }) {
      look();
      const file = files.get(path);
      if (file === undefined) return null;
      const entry = loaded.get(path) ?? readEntry(file);
      loaded.set(path, entry);
      const headers = headersOf(path, entry);
      if (ifNoneMatch?.includes(entry.etag)) return new Response(null, { status: 304, headers });
      const encoding = chooseEncoding(entry, acceptEncoding);
      if (encoding === null) return new Response(new Uint8Array(entry.bytes), { headers });
      const body = await compressed(entry, encoding);
      return new Response(new Uint8Array(body), {
        headers: { ...headers, "Content-Encoding": encoding, Vary: "Accept-Encoding" },
      });
    },
    index() {
      look();
      return index;
    },
  };
}

/** Plain files only: no dot names, no links, nothing outside. */
function listFiles(folder: string): Map<string, string> {
  const out = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file);
    if (!entry.isFile() || path.split("/").some((part) => part.startsWith("."))) continue;
    if (/\.(?:br|gz)$/.test(path)) continue;
    out.set(`/${path}`, file);
  }
  return out;
}

function readEntry(file: string): Entry {
  const bytes = readFileSync(file);
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { file, etag, bytes, compressed: new Map() };
}

function headersOf(path: string, { file, etag }: Entry): Record<string, string> {
  const cache = HASHED.test(path) ? "public, max-age=31536000, immutable" : "no-cache";
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  return { "Content-Type": type, "Cache-Control": cache, ETag: etag };
}

function chooseEncoding({ file, bytes }: Entry, accept = ""): "br" | "gzip" | null {
  if (bytes.length < SMALLEST_COMPRESSED_BYTES || !COMPRESSIBLE.has(extname(file))) return null;
  const offered = accept.split(",").map((part) => part.split(";", 1)[0]?.trim());
  if (offered.includes("br")) return "br";
  return offered.includes("gzip") ? "gzip" : null;
}

/** The sibling that the build made, else compressed once and kept. */
function compressed(entry: Entry, encoding: "br" | "gzip"): Promise<Buffer> {
  const known = entry.compressed.get(encoding);
  if (known) return known;
  const made = compress(entry, encoding);
  entry.compressed.set(encoding, made);
  return made;
}

async function compress({ file, bytes }: Entry, encoding: "br" | "gzip"): Promise<Buffer> {
  const sibling = `${file}.${encoding === "br" ? "br" : "gz"}`;
  if (statSync(sibling, { throwIfNoEntry: false })?.isFile()) return readFileSync(sibling);
  if (encoding === "gzip") return promisify(gzip)(bytes);
  return promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
