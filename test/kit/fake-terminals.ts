// Programs on terminals that a test plays itself.
import type { TerminalHost, TerminalListener, TerminalRequest } from "#dashboard/pty-port.ts";

export interface FakeTerminal {
  readonly request: TerminalRequest;
  readonly listener: TerminalListener;
  /** What came in, as text. */
  input: string;
  /** While true, input waits and counts as pending. */
  isStuck: boolean;
  pendingBytes: number;
  size: { readonly cols: number; readonly rows: number };
  isPaused: boolean;
  /** `end` was asked for; `listener.gone` is the test's to call, unless `endsAtOnce`. */
  isEnded: boolean;
}

export interface FakeTerminals extends TerminalHost {
  readonly started: FakeTerminal[];
  endsAtOnce: boolean;
}

export function fakeTerminals(): FakeTerminals {
  const started: FakeTerminal[] = [];
  const host: FakeTerminals = {
    started,
    endsAtOnce: true,
    start(request, listener) {
      const { cols, rows } = request;
      const terminal: FakeTerminal = {
        request,
        listener,
        input: "",
        isStuck: false,
        pendingBytes: 0,
        size: { cols, rows },
        isPaused: false,
        isEnded: false,
      };
      started.push(terminal);
      return {
        get pendingBytes() {
          return terminal.pendingBytes;
        },
        write(bytes) {
          terminal.input += bytes.toString("utf8");
          if (terminal.isStuck) terminal.pendingBytes += bytes.length;
        },
        resize: (toCols, toRows) => void (terminal.size = { cols: toCols, rows: toRows }),
        pause: () => void (terminal.isPaused = true),
        resume: () => void (terminal.isPaused = false),
        end() {
          if (terminal.isEnded) return;
          terminal.isEnded = true;
          if (host.endsAtOnce) listener.gone();
        },
      };
    },
    close: () => Promise.resolve(),
  };
  return host;
}
