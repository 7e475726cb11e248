import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readTheme } from "./theme-definition.ts";
import { BUILT_IN_THEMES, createThemes } from "./themes.ts";

const RULES = { styleOrigins: ["https://fonts.example"] };

async function themesOf(t: TestContext, files: Readonly<Record<string, string>>) {
  const home = await mkdtemp(join(tmpdir(), "hermes-themes-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, "dashboard-themes");
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await mkdir(join(folder, "folder.yaml"));
  return { home, set: await createThemes(home, RULES, () => 0).refresh() };
}

test("a user's themes come after the built-in ones, in the order of their files", async (t) => {
  const { set } = await themesOf(t, {
    "b.yml": "name: beta\n",
    "a.yaml": 'name: alpha\nlabel: Alpha\npalette: {background: "#112233"}\n',
    "note.txt": "name: gamma\n",
  });
  const own = set.themes.slice(BUILT_IN_THEMES.length);
  assert.deepEqual(
    own.map(({ name, label }) => [name, label]),
    [
      ["alpha", "Alpha"],
      ["beta", "beta"],
    ],
  );
  assert.deepEqual(own[0]?.definition?.palette, { background: { hex: "#112233", alpha: 1 } });
});

test("broken files are left out, each with its reason and without a path", async (t) => {
  const { home, set } = await themesOf(t, {
    "default.yaml": "name: default\nlabel: Mine\n",
    "nameless.yaml": "label: X\n",
    "torn.yaml": "name: [\n",
    "large.yaml": `name: large\n#${"x".repeat(1024 * 1024)}`,
  });
  assert.deepEqual(set.themes, BUILT_IN_THEMES);
  const files = set.problems.broken.map(({ file }) => file);
  assert.deepEqual(files, [
    "default.yaml",
    "folder.yaml",
    "large.yaml",
    "nameless.yaml",
    "torn.yaml",
  ]);
  assert.ok(!JSON.stringify(set.problems).includes(home));
});

const HOSTILE: readonly (readonly [string, object])[] = [
  ["typography.fontSans", { typography: { fontSans: "x; } body { display: none" } }],
  ["typography.fontSans", { typography: { fontSans: "URL(https://evil.example/a)" } }],
  ["typography.fontSans", { typography: { fontSans: "u\\72l(https://evil.example/a)" } }],
  ["typography.fontUrl", { typography: { fontUrl: "https://evil.example/a.css" } }],
  ["typography.fontUrl", { typography: { fontUrl: "//evil.example/a.css" } }],
  ["typography.fontUrl", { typography: { fontUrl: "https://fonts.example.evil.example/a.css" } }],
  ["palette.background", { palette: { background: "#fff; x" } }],
  ["palette.background", { palette: { background: { hex: "#fff", alpha: 2 } } }],
  ["palette.warmGlow", { palette: { warmGlow: "@import 'a'" } }],
  ["layout.radius", { layout: { radius: "1px}" } }],
  ["layout.density", { layout: { density: "dense" } }],
  ["colorOverrides.ring", { colorOverrides: { ring: "image-set('a' 1x)" } }],
  ["colorOverrides.unknown", { colorOverrides: { unknown: "red" } }],
  ["assets.bg", { assets: { bg: "javascript:alert(1)" } }],
  ["assets.bg", { assets: { bg: "data:text/html,a" } }],
  ["assets.bg", { assets: { bg: "/a') ; x" } }],
  ["componentStyles.card", { componentStyles: { card: { "--x": "red" } } }],
  ["customCSS", { customCSS: "x".repeat(32 * 1024 + 1) }],
];

for (const [part, given] of HOSTILE) {
  test(`${JSON.stringify(given).slice(0, 80)} is dropped with a warning`, () => {
    const theme = readTheme({ name: "own", ...given }, RULES);
    assert.ok(typeof theme === "object");
    assert.equal(theme.warnings.length, 1);
    assert.equal(theme.warnings[0]?.slice(0, part.length), part);
    const empty = readTheme({ name: "own" }, RULES);
    assert.ok(typeof empty === "object");
    const { componentStyles: _, ...kept } = theme.definition;
    const { componentStyles: __, ...nothing } = empty.definition;
    assert.deepEqual(kept, nothing);
    assert.ok(!JSON.stringify(theme.definition.componentStyles).includes("red"));
  });
}

test("a font of an allowed origin or of this server is kept", () => {
  for (const fontUrl of ["https://fonts.example/a.css", "/fonts/a.css"]) {
    const theme = readTheme({ name: "own", typography: { fontUrl } }, RULES);
    assert.ok(typeof theme === "object");
    assert.equal(theme.definition.typography.fontUrl, fontUrl);
  }
});
