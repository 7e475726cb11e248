// One theme file's mapping -> its definition: known keys, known types, and a sentence for each part that is dropped
// (dashboard.md §12.5). Whether a value is good CSS the browser says; here it is held to be one value that fetches nothing.
import type { ThemeColour, ThemeDefinition } from "#protocol/theme.ts";

const COLOUR_KEYS: ReadonlySet<string> = new Set(
  "card cardForeground popover popoverForeground primary primaryForeground secondary secondaryForeground muted mutedForeground accent accentForeground destructive destructiveForeground success warning border input ring".split(
    " ",
  ),
);
const ASSET_KEY = /^(?:bg|hero|logo|crest|sidebar|header|custom\.[A-Za-z0-9_-]+)$/;
const BUCKETS: ReadonlySet<string> = new Set(
  "card header footer sidebar tab progress badge backdrop page".split(" "),
);
const MOST_CSS_BYTES = 32 * 1024;
const MOST_ASSET_CHARS = 256 * 1024;
const MOST_VALUE_CHARS = 500;
const OWN_PATH = /^\/(?!\/)[A-Za-z0-9._~%/-]*(?:\?[A-Za-z0-9._~%=&-]*)?$/;
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+(?:;[a-z0-9=-]+)*,[A-Za-z0-9+/=%._~-]*$/i;

type Mapping = Readonly<Record<string, unknown>>;

export interface ReadTheme {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly definition: ThemeDefinition;
  readonly warnings: readonly string[];
}

export interface ThemeRules {
  /** Origins of `dashboard.csp.style_origins`. */
  readonly styleOrigins: readonly string[];
}

/** A sentence instead of a theme when it has no usable name. */
export function readTheme(value: Mapping, rules: ThemeRules): ReadTheme | string {
  const { name } = value;
  if (typeof name !== "string" || !/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) {
    return "name is missing, or not 1 to 64 of letters, digits, _ and -";
  }
  const warnings: string[] = [];
  const drop = (message: string): undefined => void warnings.push(message);
  const css = customCss(value["customCSS"], drop);
  const definition: ThemeDefinition = {
    palette: palette(value, drop),
    typography: typography(mapping(value["typography"]), rules, drop),
    layout: layout(mapping(value["layout"]), drop),
    layoutVariant: choice(value["layoutVariant"], VARIANTS, "layoutVariant", drop),
    colorOverrides: texts(
      value["colorOverrides"],
      (key) => COLOUR_KEYS.has(key),
      "colorOverrides",
      drop,
    ),
    assets: assets(value["assets"], drop),
    componentStyles: componentStyles(value["componentStyles"], drop),
    ...(css === undefined ? {} : { customCSS: css }),
  };
  const label = shortText(value["label"]) ?? name;
  return { name, label, description: shortText(value["description"]) ?? "", definition, warnings };
}

type Drop = (message: string) => undefined;

const VARIANTS = ["standard", "cockpit", "tiled"] as const;
const DENSITIES = ["comfortable", "compact", "spacious"] as const;

function mapping(value: unknown): Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Mapping)
    : {};
}

function shortText(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= MOST_VALUE_CHARS ? value : undefined;
}

/** What ends a value, starts a rule or fetches; a backslash could spell any of them. */
const MORE_THAN_A_VALUE = /url\(|src\(|image-set\(|@import|[;{}\\]/i;

/** A text or a number, as CSS takes it; nothing that could be more than one value. */
function cssText(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  const text = shortText(value);
  return text === undefined || MORE_THAN_A_VALUE.test(text) ? undefined : text;
}

/** The first of `choices` is the fallback. */
function choice<T extends string>(
  value: unknown,
  choices: readonly [T, ...T[]],
  key: string,
  drop: Drop,
): T {
  if (value === undefined) return choices[0];
  const found = choices.find((known) => known === value);
  if (found === undefined) drop(`${key} is not one of ${choices.join(", ")}`);
  return found ?? choices[0];
}

/** `colors.*` is a fallback for `palette`. */
function palette(value: Mapping, drop: Drop): ThemeDefinition["palette"] {
  const given = { ...mapping(value["colors"]), ...mapping(value["palette"]) };
  const out: Record<string, unknown> = {};
  for (const key of ["background", "midground", "foreground"]) {
    if (given[key] === undefined) continue;
    const colour = colourOf(given[key]);
    if (colour === null) drop(`palette.${key} is not "#hex" or {hex, alpha}`);
    else out[key] = colour;
  }
  const glow = cssText(given["warmGlow"]);
  if (glow !== undefined) out["warmGlow"] = glow;
  else if (given["warmGlow"] !== undefined) drop("palette.warmGlow is not a CSS value");
  const noise = given["noiseOpacity"];
  if (typeof noise === "number" && noise >= 0 && noise <= 1) out["noiseOpacity"] = noise;
  else if (noise !== undefined) drop("palette.noiseOpacity is not a number from 0 to 1");
  return out;
}

function colourOf(value: unknown): ThemeColour | null {
  const { hex, alpha = 1 } = typeof value === "string" ? { hex: value } : mapping(value);
  const isHex =
    typeof hex === "string" && /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(hex);
  if (!isHex || typeof alpha !== "number" || !(alpha >= 0 && alpha <= 1)) return null;
  return { hex, alpha };
}

function typography(
  given: Mapping,
  { styleOrigins }: ThemeRules,
  drop: Drop,
): ThemeDefinition["typography"] {
  const out: Record<string, string> = {};
  for (const key of [
    "fontSans",
    "fontMono",
    "fontDisplay",
    "baseSize",
    "lineHeight",
    "letterSpacing",
  ]) {
    const text = cssText(given[key]);
    if (text !== undefined) out[key] = text;
    else if (given[key] !== undefined) drop(`typography.${key} is not a CSS value`);
  }
  const url = given["fontUrl"];
  if (url === undefined) return out;
  if (typeof url === "string" && (OWN_PATH.test(url) || isOf(url, styleOrigins)))
    out["fontUrl"] = url;
  else drop("typography.fontUrl is neither a path of this server nor an origin of dashboard.csp");
  return out;
}

function isOf(url: string, origins: readonly string[]): boolean {
  return URL.canParse(url) && origins.includes(new URL(url).origin);
}

function layout(given: Mapping, drop: Drop): ThemeDefinition["layout"] {
  const radius = cssText(given["radius"]);
  if (radius === undefined && given["radius"] !== undefined)
    drop("layout.radius is not a CSS value");
  const density = choice(given["density"], DENSITIES, "layout.density", drop);
  return { density, ...(radius === undefined ? {} : { radius }) };
}

function texts(
  value: unknown,
  isKnown: (key: string) => boolean,
  where: string,
  drop: Drop,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [key, given] of Object.entries(mapping(value))) {
    const text = cssText(given);
    if (text !== undefined && isKnown(key)) out[key] = text;
    else
      drop(
        `${where}.${key.slice(0, 40)} ${text === undefined ? "is not a CSS value" : "is not known"}`,
      );
  }
  return out;
}

function assets(value: unknown, drop: Drop): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [key, given] of Object.entries(flat(mapping(value)))) {
    const isPlace =
      typeof given === "string" &&
      given.length <= MOST_ASSET_CHARS &&
      (OWN_PATH.test(given) || DATA_IMAGE.test(given));
    if (isPlace && ASSET_KEY.test(key)) out[key] = given;
    else
      drop(
        `assets.${key.slice(0, 40)} is not a known name with a path or an image of at most 256 KiB`,
      );
  }
  return out;
}

/** `custom: {a: …}` and `custom.a: …` are the same. */
function flat(given: Mapping): Mapping {
  const { custom, ...rest } = given;
  if (typeof custom !== "object") return given;
  const own = Object.entries(mapping(custom)).map(([key, value]) => [`custom.${key}`, value]);
  return { ...rest, ...Object.fromEntries(own) };
}

function componentStyles(value: unknown, drop: Drop): Record<string, Record<string, string>> {
  const out: Record<string, Record<string, string>> = {};
  for (const [bucket, styles] of Object.entries(mapping(value))) {
    const isProperty = (key: string): boolean => /^[a-zA-Z][a-zA-Z-]{0,40}$/.test(key);
    if (BUCKETS.has(bucket))
      out[bucket] = texts(styles, isProperty, `componentStyles.${bucket}`, drop);
    else drop(`componentStyles.${bucket.slice(0, 40)} is not known`);
  }
  return out;
}

function customCss(value: unknown, drop: Drop): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && Buffer.byteLength(value) <= MOST_CSS_BYTES) return value;
  return drop("customCSS is not a text of at most 32 KiB");
}
