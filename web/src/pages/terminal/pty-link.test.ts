import { describe, expect, test } from "vitest";
import { PtyLink, splitText, type PtyState, type PtyWireListener } from "./pty-link.ts";

interface Wire {
  readonly url: string;
  readonly sent: (string | Uint8Array)[];
  readonly listener: PtyWireListener;
  isClosed: boolean;
}

function kit() {
  const wires: Wire[] = [];
  const states: PtyState[] = [];
  const bytes: string[] = [];
  const waiting: { run: () => void; cancelled: boolean }[] = [];
  let fresh = 0;
  let checks = 0;
  const link = new PtyLink(
    {
      makeUrl: async ({ cols, rows }) => `ws://x/?${cols}x${rows}`,
      open: (url, listener) => {
        const wire: Wire = { url, sent: [], listener, isClosed: false };
        wires.push(wire);
        return {
          send: (data) => void wire.sent.push(data),
          close: () => void (wire.isClosed = true),
        };
      },
      after: (_delayMs, run) => {
        const entry = { run, cancelled: false };
        waiting.push(entry);
        return { cancel: () => void (entry.cancelled = true) };
      },
      random: () => 0.5,
      checkCredential: async () => void (checks += 1),
    },
    {
      onState: (state) => void states.push(state),
      onFresh: () => void (fresh += 1),
      onBytes: (more) => void bytes.push(new TextDecoder().decode(more)),
    },
    { cols: 80, rows: 24 },
  );
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  const connect = async () => {
    link.connect();
    await settle();
  };
  const reconnect = async () => {
    const due = waiting.findLast((entry) => !entry.cancelled);
    if (!due) throw new Error("nothing is due");
    due.cancelled = true;
    due.run();
    await settle();
  };
  const last = () => {
    const wire = wires.at(-1);
    if (!wire) throw new Error("no socket was opened");
    return wire;
  };
  const state = () => states.at(-1);
  const counts = () => ({ fresh, checks });
  return { link, wires, bytes, settle, connect, reconnect, last, state, counts, waiting };
}

const HELLO = new TextEncoder().encode("hello");

describe("PtyLink", () => {
  test("a lost connection is made again and shows everything from its start", async () => {
    const { connect, reconnect, last, state, counts, bytes, wires } = kit();
    await connect();
    last().listener.onOpen();
    expect(state()).toEqual({ kind: "open" });
    last().listener.onBytes(HELLO);
    last().listener.onClose(1006, "");
    expect(state()).toEqual({ kind: "waiting" });
    await reconnect();
    last().listener.onOpen();
    last().listener.onBytes(HELLO);
    expect(wires).toHaveLength(2);
    expect(counts().fresh).toBe(2);
    expect(bytes).toEqual(["hello", "hello"]);
  });

  test.each([
    [4409, "", { kind: "taken" }],
    [4410, "3", { kind: "ended", exitCode: "3" }],
    [4403, "off", { kind: "off" }],
    [4404, "no such profile", { kind: "failed", reason: "no such profile" }],
    [4400, "cols", { kind: "failed", reason: "cols" }],
    [4429, "16 terminals are open", { kind: "full", reason: "16 terminals are open" }],
    [1001, "server stops", { kind: "waiting" }],
    [1011, "", { kind: "waiting" }],
    [1013, "", { kind: "waiting" }],
  ] as const)("close code %i %s: %o", async (code, reason, expected) => {
    const { connect, last, state, waiting } = kit();
    await connect();
    last().listener.onOpen();
    last().listener.onClose(code, reason);
    expect(state()).toEqual(expected);
    expect(waiting).toHaveLength(expected.kind === "waiting" ? 1 : 0);
  });

  test("what the server says before 1011 is shown, and nothing is tried again by itself", async () => {
    const { connect, last, state, waiting } = kit();
    await connect();
    last().listener.onOpen();
    last().listener.onText("The terminal cannot start: no package.\r\n");
    last().listener.onClose(1011, "cannot start");
    expect(state()).toEqual({ kind: "failed", reason: "The terminal cannot start: no package." });
    expect(waiting).toHaveLength(0);
  });

  test("three refusals without output in between: signed out", async () => {
    const { connect, reconnect, settle, last, state, counts } = kit();
    await connect();
    for (let round = 0; round < 3; round += 1) {
      last().listener.onOpen();
      last().listener.onClose(4401, "");
      await settle();
      if (round < 2) await reconnect();
    }
    expect(state()).toEqual({ kind: "signed-out" });
    expect(counts().checks).toBe(2);
  });

  test("a size that changed while connecting is told as soon as it is open", async () => {
    const { link, connect, last } = kit();
    await connect();
    link.resize({ cols: 100, rows: 30 });
    expect(last().sent).toEqual([]);
    last().listener.onOpen();
    expect(last().sent).toEqual(["\u001b[RESIZE:100;30]"]);
    link.resize({ cols: 900, rows: 2 });
    expect(last().sent.at(-1)).toBe("\u001b[RESIZE:500;2]");
  });

  test("after stop nothing is heard and nothing is tried", async () => {
    const { link, connect, last, bytes, waiting } = kit();
    await connect();
    last().listener.onOpen();
    link.stop();
    expect(last().isClosed).toBe(true);
    last().listener.onBytes(HELLO);
    last().listener.onClose(1006, "");
    expect(bytes).toEqual([]);
    expect(waiting).toHaveLength(0);
  });

  test("connect anew leaves the old socket and ends its wait", async () => {
    const { link, connect, settle, last, waiting, wires } = kit();
    await connect();
    last().listener.onClose(1006, "");
    link.connect();
    await settle();
    expect(waiting.every((entry) => entry.cancelled)).toBe(true);
    expect(wires).toHaveLength(2);
  });
});

test.each([
  ["abcdef", 4, ["abcd", "ef"]],
  ["", 4, []],
  ["abc😀def", 4, ["abc", "😀de", "f"]],
] as const)("%s in parts of %i", (text, most, parts) => {
  expect(splitText(text, most)).toEqual(parts);
});
