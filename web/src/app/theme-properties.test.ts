import { expect, test } from "vitest";
import type { ThemeDefinition } from "#protocol/theme.ts";
import { isSingleValue, themeProperties } from "./theme-properties.ts";

const BARE: ThemeDefinition = {
  palette: {},
  typography: {},
  layout: { density: "comfortable" },
  layoutVariant: "standard",
  colorOverrides: {},
  assets: {},
  componentStyles: {},
};

test("a palette colours every surface, and its brightness says what lies beneath", () => {
  const { base, values } = themeProperties({
    ...BARE,
    palette: {
      background: { hex: "#fffdf0", alpha: 1 },
      midground: { hex: "#222222", alpha: 1 },
      foreground: { hex: "#ffffff", alpha: 0 },
    },
  });
  const told = new Map(values);
  expect(base).toBe("daylight");
  expect(told.get("--color-background")).toBe("#fffdf0");
  expect(told.get("--color-foreground")).toBe("#222222");
  expect(told.get("--color-card")).toBe("color-mix(in srgb, #fffdf0, #222222 5%)");
  expect(
    themeProperties({ ...BARE, palette: { background: { hex: "#012", alpha: 1 } } }).base,
  ).toBe("default");
});

test("keys become properties; density, radius and assets have theirs", () => {
  const { values, variant } = themeProperties({
    ...BARE,
    layout: { density: "compact", radius: "0" },
    layoutVariant: "cockpit",
    colorOverrides: { mutedForeground: "#abc" },
    componentStyles: { card: { boxShadow: "none" } },
    assets: { logo: "/x/logo.svg", "custom.a_b": "data:image/png;base64,AA==" },
  });
  const told = new Map(values);
  expect(variant).toBe("cockpit");
  expect(told.get("--color-muted-foreground")).toBe("#abc");
  expect(told.get("--spacing-mul")).toBe("0.85");
  expect(told.get("--radius")).toBe("0");
  expect(told.get("--component-card-box-shadow")).toBe("none");
  expect(told.get("--theme-asset-logo")).toBe('url("/x/logo.svg")');
  expect(told.get("--theme-asset-custom-a_b-raw")).toBe('"data:image/png;base64,AA=="');
});

test.each([
  "red; background: url(//evil)",
  "red}",
  "{",
  "URL(//evil)",
  "u\\72l(//evil)",
  "image-set('a' 1x)",
  "@import 'x'",
  "src('x')",
])("%s is no single value", (value) => {
  expect(isSingleValue(value)).toBe(false);
  const hostile = themeProperties({
    ...BARE,
    colorOverrides: { card: value },
    assets: { bg: `//evil/${value}`, hero: `/x")${value}` },
  });
  expect(hostile.values.map(([name]) => name)).toEqual(["--spacing-mul"]);
});
