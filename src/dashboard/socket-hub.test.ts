import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { silentLog } from "#base/log.ts";
import type { SessionService } from "#session/types.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { until } from "../../test/kit/until.ts";
import type { Changes } from "./changes.ts";
import type { ProfileServices } from "./deps.ts";
import type { Socket } from "./routing.ts";
import { createSocketHub } from "./socket-hub.ts";

/** A socket whose reader never reads. */
class StuckSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  closed: number | null = null;
  terminated = false;
  send(data: string): void {
    this.bufferedAmount += data.length;
  }
  close(code: number): void {
    this.closed = code;
    this.readyState = 2;
  }
  terminate(): void {
    this.terminated = true;
    this.emit("close");
  }
  ping(): void {}
}

function setUp() {
  const clock = new FakeClock();
  let listener: Parameters<SessionService["subscribe"]>[2] | null = null;
  let subscriptions = 0;
  const sessions = {
    subscribe: (_id: string, _after: string | null, listen: typeof listener) => {
      listener = listen;
      subscriptions++;
      return Promise.resolve({ close: () => void subscriptions-- });
    },
  } as unknown as SessionService;
  const hub = createSocketHub({
    profiles: {
      open: () => Promise.resolve({ sessions } as ProfileServices),
      glance: () => assert.fail("not asked for"),
      opened: () => [],
      list: () => Promise.resolve([]),
      create: () => assert.fail("not asked for"),
      change: () => assert.fail("not asked for"),
      remove: () => assert.fail("not asked for"),
      register: () => assert.fail("not asked for"),
      use: () => assert.fail("not asked for"),
      homeOf: () => assert.fail("not asked for"),
    },
    changes: { watch: () => () => undefined } as unknown as Changes,
    clock,
    log: silentLog,
    serverId: "server",
    version: "1",
  });
  const emit = (seq: number, size: number): void =>
    listener?.({
      id: `run.${seq}`,
      event: {
        v: 1,
        seq,
        at: "2026-01-15T12:00:00.000Z",
        sessionId: "s",
        turnId: "t",
        type: "notice",
        level: "info",
        code: "X",
        text: "x".repeat(size),
      },
    });
  return { clock, hub, emit, count: () => subscriptions };
}

function open(hub: ReturnType<typeof createSocketHub>): StuckSocket {
  const ws = new StuckSocket();
  hub.open({ ws: ws as unknown as WebSocket, caller: { kind: "local" } } as Socket);
  return ws;
}

test("a reader that is more than 4 MiB behind is closed with 1013, and destroyed 2 s later", async () => {
  const { clock, hub, emit, count } = setUp();
  const ws = open(hub);
  ws.emit("message", Buffer.from('{"type":"subscribe","session":"s"}'), false);
  await until("the subscription", () => count() === 1);
  for (let n = 1; n <= 4; n++) emit(n, 1024 * 1024 - 1000);
  assert.equal(ws.closed, null);
  emit(5, 1024 * 1024);
  assert.equal(ws.closed, 1013);
  assert.equal(count(), 0);
  const buffered = ws.bufferedAmount;
  emit(6, 1000);
  assert.equal(ws.bufferedAmount, buffered);
  await clock.advance(2000);
  assert.ok(ws.terminated);
  assert.equal(hub.size, 0);
});

test("the 257th socket is closed with 4429", () => {
  const { hub } = setUp();
  for (let n = 0; n < 256; n++) assert.equal(open(hub).closed, null);
  assert.equal(open(hub).closed, 4429);
  assert.equal(hub.size, 256);
});

test("subscribing again replaces the old subscription; unsubscribing ends it", async () => {
  const { hub, count } = setUp();
  const ws = open(hub);
  const say = (frame: object): boolean =>
    ws.emit("message", Buffer.from(JSON.stringify(frame)), false);
  say({ type: "subscribe", session: "s" });
  await until("the subscription", () => count() === 1);
  say({ type: "subscribe", session: "s", after: "run.1" });
  await until("the new one alone", () => count() === 1);
  say({ type: "unsubscribe", session: "s" });
  await until("none", () => count() === 0);
});
