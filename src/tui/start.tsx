// Opens the interface on a terminal, and gives the terminal back however it ends.
import { render, type Instance } from "ink";
import type { ExitCode } from "#base/exit-codes.ts";
import { App } from "./app.tsx";
import { Controller } from "./controller.ts";
import type { Tui, TuiOptions } from "./port.ts";
import { Terminal } from "./terminal.ts";
import { ViewStore } from "./view-store.ts";
import { firstView } from "./view.ts";

/** Paste mode off, cursor visible, colours off. */
const RESTORE = "\x1b[?2004l\x1b[?25h\x1b[0m";

/**
 * Draws the first frame before it returns; `connect` is called after it. `ended` resolves with the exit code, or rejects
 * with the error of `connect` or of a component, the terminal restored in every case.
 */
export function startTui(options: TuiOptions): Tui {
  const { stdin, stdout } = options;
  const store = new ViewStore(firstView(options.version, options.profile));
  const terminal = new Terminal(stdout, store);
  const { promise: left, resolve: leaveWith } = Promise.withResolvers<ExitCode>();
  const controller = new Controller({
    store,
    nowMs: () => performance.now(),
    redraw: terminal.redraw,
    suspend: terminal.stop,
    close(code, sessionId) {
      const words = sessionId === null ? "" : `Go on with it: hermes -r ${sessionId}`;
      store.dispatch({ type: "leaving", words });
      leaveWith(code);
    },
  });
  const restore = (): void => {
    if (stdin.isRaw) stdin.setRawMode(false);
    stdout.write(RESTORE);
  };
  process.once("exit", restore);
  const instance = render(
    <App store={store} controller={controller} terminal={terminal} colours={options.colours} />,
    // What CI in the environment means for a log, it does not mean for a person's terminal.
    { stdin, stdout, exitOnCtrlC: false, patchConsole: false, interactive: true },
  );
  const tui: Omit<Tui, "ended"> = {
    update: (update) => controller.update(update),
    leave: (code) => void controller.leave(code),
    interrupt: () => controller.interrupt(),
  };
  return { ...tui, ended: run() };

  async function run(): Promise<ExitCode> {
    try {
      return await Promise.race([left, ended(instance), openDoor()]);
    } finally {
      terminal.end();
      await instance.waitUntilRenderFlush().catch(() => undefined);
      instance.unmount();
      process.off("exit", restore);
      restore();
    }
  }

  /** After the first frame is out and the keys are read. */
  async function openDoor(): Promise<ExitCode> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    try {
      await controller.connect(await options.connect(tui));
    } catch (error) {
      store.dispatch({ type: "leaving", words: "" });
      throw error;
    }
    return left;
  }

  /** A component that throws ends the interface with its error. */
  async function ended(ink: Instance): Promise<ExitCode> {
    await ink.waitUntilExit();
    return left;
  }
}
