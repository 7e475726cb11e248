// Bodies of answers that are not 2xx (dashboard.md §0, §4.1).

/** The one table of stable codes. Codes of other rooms are mapped onto these in dashboard/errors.ts. */
export const ERROR_CODES = [
  "invalid",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "too_large",
  "unsupported_media_type",
  "rate_limited",
  "conflict",
  "partial",
  "busy",
  "session_busy",
  "not_supervised",
  "unsupported",
  "reauth_required",
  "origin_not_allowed",
  "bad_host",
  "bad_path",
  "provider_unreachable",
  "store_busy",
  "store_failed",
  "config_broken",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Facts that some refusals add to the sentence. */
export interface ErrorFacts {
  /** 500: the request id under which the cause was logged. */
  readonly id?: string;
  /** `session_busy`: who holds the session. */
  readonly holder?: string;
  /** `conflict`: what was chosen before (an approval), or the candidates of an ambiguous id. */
  readonly choice?: string;
  readonly candidates?: readonly string[];
  /** `config_broken`, bad YAML: where. */
  readonly line?: number;
  readonly column?: number;
  /** `invalid` of a model test: the stage that failed. */
  readonly stage?: ModelTestStage;
  /** `reauth_required`: where to sign in again. */
  readonly login_url?: string;
  /** Each finding, when there are several. */
  readonly problems?: readonly { readonly setting: string | null; readonly message: string }[];
}

export interface ErrorBody extends ErrorFacts {
  readonly detail: string;
  readonly code: ErrorCode;
}

/** 422: one entry per wrong field. `loc` starts with `body`, `query` or `path`. */
export interface ValidationBody {
  readonly detail: readonly {
    readonly loc: readonly (string | number)[];
    readonly msg: string;
    readonly type: string;
  }[];
  readonly code: "invalid";
}

export type ModelTestStage = "dns" | "connect" | "tls" | "auth" | "model" | "quota";
