// The house: rooms exist, arrows point one way, confined modules stay where they belong.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { judge } from "./arrows.ts";
import { importsOf, sourceFiles, stripComments } from "./imports.ts";
import { ROOMS } from "./rooms.ts";

const root = join(import.meta.dirname, "..", "..");
const src = join(root, "src");

test("every import follows the table of arrows", () => {
  const wrong = sourceFiles(src).flatMap((file) =>
    importsOf(src, file)
      .map(judge)
      .filter((sentence) => sentence !== null),
  );
  assert.deepEqual(wrong, []);
});

test("a planted import is seen", () => {
  const planted: readonly [string, string, RegExp][] = [
    ["agent/loop.ts", 'import { open } from "#store/open.ts";', /agent may import only/u],
    ["agent/loop.ts", 'import fs from "node:fs";', /pure/u],
    ["store/open.ts", 'import { runTurn } from "#agent/loop.ts";', /never back/u],
    ["tools/box.ts", 'import { DatabaseSync } from "node:sqlite";', /one write discipline/u],
    ["auth/gate.ts", 'import { spawn } from "node:child_process";', /must also end it/u],
    ["auth/gate.ts", 'const x = await import("#session/service.ts");', /audit in one sitting/u],
    ["dashboard/app.ts", 'import { chooseModel } from "#model/choose.ts";', /handed in by cli/u],
    ["config/tree.ts", 'import { z } from "zod";', /not in the table/u],
    ["base/ids.ts", 'import x from "../protocol/events.ts";', /across rooms/u],
    ["model/open.ts", 'import x from "#model/sdk.ts";', /inside a room/u],
  ];
  for (const [file, text, expected] of planted) {
    const [item] = importsOf(src, file, text);
    assert.ok(item, text);
    assert.match(judge(item) ?? "nothing", expected, text);
  }
});

test("rooms of the table exist when built, and only those", () => {
  for (const [name, room] of Object.entries(ROOMS)) {
    assert.equal(existsSync(join(src, name)), room.built, `src/${name}: built is ${room.built}`);
  }
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const unknown = folders.map((entry) => entry.name).filter((name) => !(name in ROOMS));
  assert.deepEqual(unknown, [], "a new room needs a row in the table and in docs/architecture.md");
});

test("no cycles between rooms", () => {
  const edges = new Map<string, Set<string>>();
  for (const file of sourceFiles(src).filter((name) => !name.endsWith(".test.ts"))) {
    const room = file.split("/")[0] ?? "";
    for (const item of importsOf(src, file)) {
      const other = item.specifier.startsWith("#")
        ? (item.specifier.slice(1).split("/")[0] ?? "")
        : room;
      if (other !== room) edges.set(room, (edges.get(room) ?? new Set()).add(other));
    }
  }
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
    [...(edges.get(from) ?? [])].some((next) => {
      if (next === goal) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, goal, seen);
    });
  assert.deepEqual(
    [...edges.keys()].filter((room) => reaches(room, room)),
    [],
  );
});

test("the environment is read only in config and bin", () => {
  const wrong = sourceFiles(src).filter(
    (file) =>
      !file.startsWith("config/") &&
      !file.endsWith(".test.ts") &&
      /process\.env\b|from "node:process"/u.test(
        stripComments(readFileSync(join(src, file), "utf8")),
      ),
  );
  assert.deepEqual(wrong, []);
});

test("the browser app imports nothing of the server but protocol, and there only types and plain data", () => {
  const web = join(root, "web", "src");
  const isPlainData = (specifier: string): boolean =>
    importsOf(src, specifier.slice(1)).every((item) => item.typeOnly);
  const wrong = sourceFiles(web)
    .flatMap((file) => importsOf(web, file))
    .filter((item) => {
      if (item.specifier.startsWith("#protocol/"))
        return !item.typeOnly && !isPlainData(item.specifier);
      return item.specifier.startsWith("#") || /\/src\/(?!protocol)/u.test(item.specifier);
    })
    .map((item) => `${item.file}: ${item.specifier}`);
  assert.deepEqual(wrong, []);
});

test("files of the sources are named as nouns and have one job", () => {
  const banned = /(?:^|\/)(?:utils?|helpers?|common|misc|new|legacy|manager2)\b/u;
  assert.deepEqual(
    sourceFiles(src).filter((file) => banned.test(file)),
    [],
  );
  assert.deepEqual(
    sourceFiles(src).filter((file) => file.endsWith("/index.ts")),
    [],
    "no barrel files",
  );
});
