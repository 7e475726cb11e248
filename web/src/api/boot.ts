// What the server put into the page (dashboard.md §8.1). Read once, at start.

export interface Boot {
  /** The local token; null in gated mode, where the cookie is the credential. */
  readonly token: string | null;
  /** `""` or a path such as `/hermes`, without a trailing slash. */
  readonly basePath: string;
  readonly authRequired: boolean;
}

type Globals = Readonly<Record<string, unknown>>;

export function readBoot(globals: Globals): Boot {
  const token = globals["__HERMES_SESSION_TOKEN__"];
  const basePath = globals["__HERMES_BASE_PATH__"];
  return {
    token: typeof token === "string" && token !== "" ? token : null,
    basePath: typeof basePath === "string" ? basePath.replace(/\/+$/, "") : "",
    authRequired: globals["__HERMES_AUTH_REQUIRED__"] === true,
  };
}
