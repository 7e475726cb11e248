// Port of the log. The implementation (JSON lines, redaction, rotation) is handed in by `cli`.

export type LogFields = Readonly<Record<string, unknown>>;

/** Never throws. `message` is for people; facts go into fields. Secrets are redacted by the implementation. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
