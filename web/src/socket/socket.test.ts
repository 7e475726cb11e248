import { describe, expect, test } from "vitest";
import type { AgentEvent } from "#protocol/events.ts";
import { actionFor, waitMs } from "./backoff.ts";
import { isLater, LiveSocket, type WireListener, type WireSocket } from "./socket.ts";

test.each([
  [0, 0.999, 500],
  [1, 0.5, 500],
  [6, 0.999, 29_970],
  [40, 0.999, 29_970],
  [3, 0, 0],
])("attempt %i with jitter %f waits %i ms", (attempt, random, expected) => {
  expect(Math.abs(waitMs(attempt, random) - expected)).toBeLessThanOrEqual(1);
});

test.each([
  [1000, "retry"],
  [1001, "retry"],
  [1006, "retry"],
  [1013, "retry"],
  [4400, "stop"],
  [4401, "credential"],
  [4403, "stop"],
  [4429, "limit"],
] as const)("close code %i: %s", (code, action) => {
  expect(actionFor(code)).toBe(action);
});

test.each([
  ["run1.5", "run1.4", true],
  ["run1.4", "run1.4", false],
  ["run1.10", "run1.9", true],
  ["run2.9", "run1.4", false],
  ["run1.1", null, false],
])("%s after %s: %s", (id, last, later) => {
  expect(isLater(id, last)).toBe(later);
});

class FakeWire implements WireSocket {
  readonly sent: unknown[] = [];
  readonly #listener: WireListener;
  constructor(listener: WireListener) {
    this.#listener = listener;
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(code = 1006): void {
    this.#listener.onClose(code);
  }
  say(frame: object): void {
    this.text(JSON.stringify(frame));
  }
  text(text: string): void {
    this.#listener.onText(text);
  }
  greet(server = "s1"): void {
    this.say({ type: "ready", server, version: "1" });
  }
}

function kit() {
  const wires: FakeWire[] = [];
  const waiting: { delayMs: number; run: () => void; cancelled: boolean }[] = [];
  let checks = 0;
  const socket = new LiveSocket({
    makeUrl: async () => "ws://x/api/ws",
    open: (_url, listener) => {
      const wire = new FakeWire(listener);
      wires.push(wire);
      return wire;
    },
    after: (delayMs, run) => {
      const entry = { delayMs, run, cancelled: false };
      waiting.push(entry);
      return { cancel: () => void (entry.cancelled = true) };
    },
    random: () => 0.5,
    checkCredential: async () => {
      checks += 1;
    },
  });
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  /** Runs the reconnect that is due, not the limit of a socket that waits for its greeting. */
  const reconnect = async () => {
    const due = waiting.findLast((entry) => !entry.cancelled && entry.delayMs !== 15_000);
    if (due) due.cancelled = true;
    due?.run();
    await settle();
  };
  const last = () => {
    const wire = wires.at(-1);
    if (!wire) throw new Error("no socket was opened");
    return wire;
  };
  return { socket, wires, waiting, settle, reconnect, last, checks: () => checks };
}

function event(type: string, seq: number): AgentEvent {
  return { v: 1, seq, at: "", sessionId: "a", turnId: null, type } as unknown as AgentEvent;
}

describe("LiveSocket", () => {
  test("hands each event on once and resumes after the last one", async () => {
    const { socket, last, settle, reconnect } = kit();
    const seen: string[] = [];
    socket.followSession("a", {
      onEvent: (got) => seen.push(`${got.type}${got.seq}`),
      onRefused: () => {},
    });
    socket.start();
    await settle();
    last().greet();
    expect(last().sent).toEqual([{ type: "subscribe", session: "a" }]);
    const frame = (type: string, seq: number) =>
      last().say({ type: "event", session: "a", id: `r.${seq}`, event: event(type, seq) });
    frame("text-delta", 3);
    frame("snapshot", 4);
    frame("text-delta", 5);
    frame("text-delta", 5);
    last().close(1006);
    await reconnect();
    last().greet();
    expect(last().sent).toEqual([{ type: "subscribe", session: "a", after: "r.5" }]);
    frame("text-delta", 5);
    frame("text-delta", 6);
    expect(seen).toEqual(["snapshot4", "text-delta5", "text-delta6"]);
  });

  test("says so when another server process answers", async () => {
    const { socket, last, settle, reconnect } = kit();
    let changed = 0;
    socket.onNewServer(() => (changed += 1));
    socket.start();
    await settle();
    last().greet("s1");
    last().close(1001);
    await reconnect();
    last().greet("s1");
    expect(changed).toBe(0);
    last().close(1001);
    await reconnect();
    last().greet("s2");
    expect(changed).toBe(1);
  });

  test("gives up after three refusals and asks the HTTP side before each retry", async () => {
    const { socket, wires, last, settle, reconnect, checks } = kit();
    socket.start();
    await settle();
    for (let round = 0; round < 3; round += 1) {
      last().close(4401);
      await settle();
      await reconnect();
    }
    expect(socket.state).toBe("signed-out");
    expect(wires).toHaveLength(3);
    expect(checks()).toBe(2);
  });

  test.each([
    [4400, "stopped"],
    [4429, "limited"],
    [1013, "waiting"],
  ] as const)("after close code %i it is %s", async (code, state) => {
    const { socket, last, settle } = kit();
    socket.start();
    await settle();
    last().greet();
    expect(socket.state).toBe("open");
    last().close(code);
    expect(socket.state).toBe(state);
  });

  test("leaving a session unsubscribes, once nobody follows it", async () => {
    const { socket, last, settle } = kit();
    socket.start();
    await settle();
    last().greet();
    const listener = { onEvent: () => {}, onRefused: () => {} };
    const leave = socket.followSession("a", listener);
    const leaveToo = socket.followSession("a", { ...listener });
    leave();
    leaveToo();
    expect(last().sent.at(-1)).toEqual({ type: "unsubscribe", session: "a" });
    expect(last().sent.filter((frame) => JSON.stringify(frame).includes("unsub"))).toHaveLength(1);
  });

  test("a frame that is no JSON or of a later server changes nothing", async () => {
    const { socket, last, settle } = kit();
    socket.start();
    await settle();
    last().text("{");
    last().say({ type: "hologram" });
    expect(socket.state).toBe("connecting");
  });
});
