// What came of one question: an HTTP answer of any status, or a failure's name. Neither is thrown (style.md, habit 10).

export type Outcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The header as it came; null without one. */
      readonly location: string | null;
      /** UTF-8; "" where the body was not asked for. */
      readonly body: string;
      /** Why the body is not whole: `too long`, `timeout` or an error's name; null when it is. */
      readonly cut: string | null;
    }
  | {
      readonly kind: "failed";
      /** `timeout`, or the error's name as Node gives it: ECONNREFUSED, ENOTFOUND, DEPTH_ZERO_SELF_SIGNED_CERT. */
      readonly reason: string;
    };

export const TIMEOUT = "timeout";
export const TOO_LONG = "too long";
