// Looks of the browser app (dashboard.md §12.5): a user's theme as it was read, known keys only. Every value is still text of
// a stranger: the browser puts it into properties and asks CSS.supports first.

export interface ThemeColour {
  /** `#rgb` to `#rrggbbaa` */
  readonly hex: string;
  /** 0..1 */
  readonly alpha: number;
}

export interface ThemeDefinition {
  readonly palette: {
    readonly background?: ThemeColour;
    readonly midground?: ThemeColour;
    readonly foreground?: ThemeColour;
    readonly warmGlow?: string;
    readonly noiseOpacity?: number;
  };
  readonly typography: {
    readonly fontSans?: string;
    readonly fontMono?: string;
    readonly fontDisplay?: string;
    /** A style sheet: a path of this server, or an origin of `dashboard.csp.style_origins`. */
    readonly fontUrl?: string;
    readonly baseSize?: string;
    readonly lineHeight?: string;
    readonly letterSpacing?: string;
  };
  readonly layout: {
    readonly radius?: string;
    readonly density: "compact" | "comfortable" | "spacious";
  };
  readonly layoutVariant: "standard" | "cockpit" | "tiled";
  readonly colorOverrides: Readonly<Record<string, string>>;
  /** Paths of this server or `data:image/…`. */
  readonly assets: Readonly<Record<string, string>>;
  readonly componentStyles: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly customCSS?: string;
}

/** GET /api/dashboard/themes/problems: what is wrong with the files of `dashboard-themes`. */
export interface ThemeProblemsBody {
  /** Left out. */
  readonly broken: readonly { readonly file: string; readonly message: string }[];
  /** There, but without the parts that are named. */
  readonly warnings: readonly { readonly theme: string; readonly message: string }[];
}
