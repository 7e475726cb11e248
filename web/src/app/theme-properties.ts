// A user's theme as properties of the root element (dashboard.md §12.5). Pure: what the browser thinks of a value is asked by
// whoever sets it. The server has judged the file; this is the second fence, for a definition that lay in this browser.
import type { ThemeColour, ThemeDefinition } from "#protocol/theme.ts";

export interface ThemeProperties {
  /** The built-in theme beneath: what the definition does not say comes from it. */
  readonly base: "default" | "daylight";
  /** Custom properties, and `font-size`, `line-height`, `letter-spacing` of the root. */
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly variant: string;
}

const SPACING = { compact: "0.85", comfortable: "1", spacious: "1.2" } as const;
/** Of the foreground in the background, for surfaces that the palette does not name. */
const SURFACES: readonly (readonly [name: string, percent: number])[] = [
  ["card", 5],
  ["popover", 9],
  ["secondary", 13],
  ["muted", 4],
  ["accent", 18],
  ["border", 22],
  ["input", 50],
];
const TEXTS = ["card", "popover", "secondary", "accent"];

export function themeProperties(definition: ThemeDefinition): ThemeProperties {
  const { palette, typography, layout, colorOverrides, assets, componentStyles } = definition;
  const values: [string, string | undefined][] = [
    ...paletteValues(palette),
    ...Object.entries(colorOverrides).map(([key, value]): [string, string] => [
      `--color-${kebab(key)}`,
      value,
    ]),
    ["--font-sans", typography.fontSans],
    ["--font-mono", typography.fontMono],
    ["--font-display", typography.fontDisplay],
    ["font-size", typography.baseSize],
    ["line-height", typography.lineHeight],
    ["letter-spacing", typography.letterSpacing],
    ["--radius", layout.radius],
    ["--spacing-mul", SPACING[layout.density]],
    ...Object.entries(componentStyles).flatMap(([bucket, styles]) =>
      Object.entries(styles).map(([key, value]): [string, string] => [
        `--component-${bucket}-${kebab(key)}`,
        value,
      ]),
    ),
  ];
  const safe = values.filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isSingleValue(entry[1]),
  );
  return {
    base: isLight(palette.background) ? "daylight" : "default",
    values: [...safe, ...assetValues(assets)],
    variant: definition.layoutVariant,
  };
}

/** Nothing that ends the value, begins a rule, or fetches. */
export function isSingleValue(value: string): boolean {
  return !/[;{}\\]|@import|(?:url|src|image-set)\s*\(/i.test(value);
}

function paletteValues(palette: ThemeDefinition["palette"]): [string, string | undefined][] {
  const { background, midground, foreground } = palette;
  const text = foreground && foreground.alpha > 0 ? foreground : midground;
  const values: [string, string | undefined][] = [
    ["--color-background", background && colour(background)],
    ["--color-midground", midground && colour(midground)],
    ["--color-foreground", text && colour(text)],
    ["--theme-warm-glow", palette.warmGlow],
    ["--theme-noise", palette.noiseOpacity?.toString()],
  ];
  if (!background || !text) return values;
  const [from, to] = [colour(background), colour(text)];
  for (const [name, percent] of SURFACES) {
    values.push([`--color-${name}`, `color-mix(in srgb, ${from}, ${to} ${percent}%)`]);
  }
  for (const name of TEXTS) values.push([`--color-${name}-foreground`, to]);
  values.push(["--color-muted-foreground", `color-mix(in srgb, ${to}, ${from} 22%)`]);
  return values;
}

function assetValues(assets: ThemeDefinition["assets"]): (readonly [string, string])[] {
  return Object.entries(assets)
    .filter(([, value]) => /^(?:\/(?!\/)|data:image\/)/i.test(value) && !/["\\\n]/.test(value))
    .flatMap(([key, value]): (readonly [string, string])[] => {
      const name = `--theme-asset-${key.replace(".", "-")}`;
      return [
        [name, `url("${value}")`],
        [`${name}-raw`, `"${value}"`],
      ];
    });
}

const kebab = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function colour({ hex, alpha }: ThemeColour): string {
  return alpha >= 1 ? hex : `color-mix(in srgb, ${hex} ${Math.round(alpha * 100)}%, transparent)`;
}

/** By perceived brightness (ITU-R BT.601); the short forms of hex count, too. */
function isLight(given: ThemeColour | undefined): boolean {
  if (!given) return false;
  const digits = given.hex.slice(1);
  const parts = (digits.length < 6 ? digits.replaceAll(/./g, "$&$&") : digits).match(/../g) ?? [];
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseInt(part, 16));
  return (299 * red + 587 * green + 114 * blue) / 1000 > 140;
}
