// Who may have a terminal, how many, and what becomes of it (dashboard.md §9.2, §9.4), with programs that the test plays. Real
// programs: src/cli/terminal.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openDashboard, LOCAL_TOKEN, type DashboardOptions } from "../kit/dashboard.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { fakeTerminals, type FakeTerminal } from "../kit/fake-terminals.ts";
import { openGated } from "../kit/gated.ts";
import { openPty, type PtySocket } from "../kit/pty-socket.ts";
import { until } from "../kit/until.ts";

async function setUp(t: TestContext, options: DashboardOptions = {}) {
  const terminals = fakeTerminals();
  const dashboard = await openDashboard(t, { ...options, terminals });
  const open = (query = ""): Promise<PtySocket> =>
    openPty(dashboard.url, { query: `token=${LOCAL_TOKEN}&${query}` });
  const nth = (n: number): Promise<FakeTerminal> =>
    until(`terminal ${n} starts`, () => terminals.started[n]);
  const count = (): number => dashboard.running.counts().terminals;
  return { dashboard, terminals, open, nth, count };
}

const closing = (socket: PtySocket) => until("the socket closes", () => socket.closed);

test("output comes as binary frames, input goes as it is, a resize is no input", async (t) => {
  const { open, nth } = await setUp(t, { profiles: ["coder"] });
  const socket = await open("cols=100&rows=30&profile=coder&resume=20260115_120000_abcdef");
  const terminal = await nth(0);
  assert.deepEqual(terminal.request, {
    profile: "coder",
    resume: "20260115_120000_abcdef",
    cols: 100,
    rows: 30,
  });
  terminal.listener.output(Buffer.from("grüß"));
  await until("the output", () => socket.output() === "grüß");
  socket.type("ls\r");
  socket.type("\u001b[RESIZE:120;40]");
  socket.type("\u001b[RESIZE:999;40]");
  socket.ws.send(Buffer.from([3]));
  await until("the input", () => terminal.input === "ls\r\u0003");
  assert.deepEqual(terminal.size, { cols: 120, rows: 40 });
  assert.deepEqual(socket.said, []);
});

test("the program's end is 4410 with its exit code, after its last output", async (t) => {
  const { open, nth, count } = await setUp(t);
  const socket = await open();
  const { listener } = await nth(0);
  listener.output(Buffer.from("bye"));
  listener.exited(3);
  assert.deepEqual(await closing(socket), { code: 4410, reason: "3" });
  assert.equal(socket.output(), "bye");
  assert.equal(count(), 0);
});

for (const [name, query, options, code, reason] of [
  ["a size that is none", "cols=0", {}, 4400, /cols and rows/],
  ["a name that is none", "attach=a/b", {}, 4400, /attach/],
  ["a session that is none", "resume=-x", {}, 4400, /resume/],
  ["an unknown profile", "profile=nobody", {}, 4404, /no such profile/],
  [
    "the tab switched off",
    "",
    { env: { HERMES_DASHBOARD_TUI: "0" } },
    4403,
    /HERMES_DASHBOARD_TUI/,
  ],
] as const) {
  test(`${name}: ${code}, and nothing runs`, async (t) => {
    const { open, terminals, count } = await setUp(t, options);
    const closed = await closing(await open(query));
    assert.equal(closed.code, code);
    assert.match(closed.reason, reason);
    assert.equal(terminals.started.length, 0);
    assert.equal(count(), 0);
  });
}

test("what cannot start is said as a text line, then 1011", async (t) => {
  const { open, nth, count } = await setUp(t);
  const socket = await open();
  (await nth(0)).listener.refused("the package is not installed.");
  assert.equal((await closing(socket)).code, 1011);
  assert.deepEqual(socket.said, ["The terminal cannot start: the package is not installed.\r\n"]);
  assert.equal(count(), 0);
});

test("a stranger is closed with 4401 before anything runs", async (t) => {
  const { dashboard, terminals } = await setUp(t);
  for (const query of ["", "token=wrong-token-0123456789"]) {
    assert.equal((await closing(await openPty(dashboard.url, { query }))).code, 4401);
  }
  assert.equal(terminals.started.length, 0);
});

test("without a name the program ends with its socket, also one that was just lost", async (t) => {
  const { open, nth, count } = await setUp(t);
  const closed = await open();
  const first = await nth(0);
  closed.ws.close();
  await until("the first one's end", () => first.isEnded);
  const lost = await open();
  const second = await nth(1);
  lost.cut();
  await until("the second one's end", () => second.isEnded);
  await until("nothing is left", () => count() === 0);
});

test("with a name it waits 60 s; whoever comes back gets the last output, then what comes", async (t) => {
  const clock = new FakeClock();
  const { open, nth, count, terminals } = await setUp(t, { clock });
  const first = await open("attach=tab-1&cols=80&rows=24");
  const terminal = await nth(0);
  terminal.listener.output(Buffer.from("before "));
  await until("the output", () => first.output() === "before ");
  first.cut();
  terminal.listener.output(Buffer.from("meanwhile "));
  await clock.advance(59_000);
  assert.equal(terminal.isEnded, false);
  const second = await open("attach=tab-1&cols=90&rows=20");
  await until("the replay", () => second.output() === "before meanwhile ");
  assert.deepEqual(terminal.size, { cols: 90, rows: 20 });
  terminal.listener.output(Buffer.from("after"));
  await until("what comes", () => second.output() === "before meanwhile after");
  await clock.advance(5_000);
  assert.equal(terminal.isEnded, false);
  second.cut();
  let seconds = 0;
  await until("its end", async () => {
    await clock.advance(1000);
    seconds++;
    return terminal.isEnded;
  });
  assert.ok(seconds >= 60, `${seconds} s`);
  assert.equal(count(), 0);
  const third = await open("attach=tab-1");
  await nth(1);
  assert.equal(terminals.started.length, 2);
  assert.equal(third.output(), "");
});

test("a second viewer takes over: 4409 to the first, whose input counts no more", async (t) => {
  const { open, nth, terminals } = await setUp(t);
  const first = await open("attach=tab");
  const terminal = await nth(0);
  const second = await open("attach=tab");
  assert.equal((await closing(first)).code, 4409);
  second.type("mine");
  await until("the input", () => terminal.input === "mine");
  assert.equal(terminals.started.length, 1);
  assert.equal(terminal.isEnded, false);
  assert.equal(second.closed, null);
});

test("the 17th is 4429, until one is gone with all that it started", async (t) => {
  const { open, nth, terminals, count } = await setUp(t);
  terminals.endsAtOnce = false;
  const sockets: PtySocket[] = [];
  for (let n = 0; n < 16; n++) sockets.push(await open());
  const first = await nth(0);
  await nth(15);
  assert.equal((await closing(await open())).code, 4429);
  sockets[0]?.cut();
  await until("the first one ends", () => first.isEnded);
  assert.equal((await closing(await open())).code, 4429);
  first.listener.gone();
  await open();
  await nth(16);
  assert.equal(count(), 16);
  assert.equal(terminals.started.length, 17);
});

test("unread output over 1 MiB pauses the program until it was read", async (t) => {
  const { open, nth } = await setUp(t);
  const socket = await open();
  const terminal = await nth(0);
  socket.ws.pause();
  const chunk = Buffer.alloc(64 * 1024, "x");
  // What the kernel takes for a socket that nobody reads is a few MiB.
  let sent = 0;
  await until("the pause", () => {
    terminal.listener.output(chunk);
    sent += chunk.length;
    return terminal.isPaused || sent > 64 * 1024 * 1024;
  });
  assert.equal(terminal.isPaused, true);
  socket.ws.resume();
  await until("it goes on", () => !terminal.isPaused);
  await until("everything has come", () => socket.output().length === sent);
});

test("input that the program does not take holds its viewer, nobody else", async (t) => {
  const { open, nth } = await setUp(t);
  const stuck = await open();
  const first = await nth(0);
  const free = await open();
  const second = await nth(1);
  first.isStuck = true;
  const chunk = "x".repeat(60_000);
  for (let n = 0; n < 100; n++) stuck.type(chunk);
  await until("so much is taken from the socket", () => first.pendingBytes > 256 * 1024);
  free.type("hello");
  await until("the other one's input", () => second.input === "hello");
  assert.ok(first.pendingBytes < 1024 * 1024, `${first.pendingBytes} bytes wait`);
  first.isStuck = false;
  first.pendingBytes = 0;
  first.listener.taken();
  await until("the rest", () => first.input.length === 6_000_000);
});

test("the end of a login ends its terminals, and no other's; a name finds only one's own", async (t) => {
  const terminals = fakeTerminals();
  const dashboard = await openGated(t, { terminals });
  const [ann, bob] = [dashboard.browser(), dashboard.browser()];
  await ann.login();
  await bob.login();
  const open = (browser: typeof ann) =>
    openPty(dashboard.url, {
      query: "attach=same",
      headers: { cookie: browser.jar.header("/api/pty") ?? "", origin: dashboard.url },
    });
  const first = await open(ann);
  const second = await open(bob);
  await until("two programs", () => terminals.started.length === 2);
  await ann.post("/auth/logout");
  assert.equal((await closing(first)).code, 4401);
  assert.equal(terminals.started[0]?.isEnded, true);
  assert.equal(terminals.started[1]?.isEnded, false);
  assert.equal(second.closed, null);
});

test("the fifth of one login is 4429", async (t) => {
  const terminals = fakeTerminals();
  const dashboard = await openGated(t, { terminals });
  const ann = dashboard.browser();
  await ann.login();
  const headers = { cookie: ann.jar.header("/api/pty") ?? "", origin: dashboard.url };
  for (let n = 0; n < 4; n++)
    assert.equal((await openPty(dashboard.url, { headers })).closed, null);
  const closed = await closing(await openPty(dashboard.url, { headers }));
  assert.equal(closed.code, 4429);
  assert.match(closed.reason, /4 terminals of this session/);
});

test("a foreign page gets no terminal, even with the cookie", async (t) => {
  const terminals = fakeTerminals();
  const dashboard = await openGated(t, { terminals });
  const ann = dashboard.browser();
  await ann.login();
  const headers = { cookie: ann.jar.header("/api/pty") ?? "", origin: "http://evil.test" };
  const socket = await openPty(dashboard.url, { headers });
  assert.equal((await closing(socket)).code, 1006);
  assert.equal(terminals.started.length, 0);
});

test("the server's stop closes with 1001 and ends every program", async (t) => {
  const { dashboard, open, nth } = await setUp(t);
  const socket = await open("attach=tab");
  const terminal = await nth(0);
  await dashboard.running.stop();
  assert.equal((await closing(socket)).code, 1001);
  assert.equal(terminal.isEnded, true);
});
