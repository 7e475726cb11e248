// Chat over HTTP and streams with the real session service and the demo model (dashboard.md §9, rows 46–49).
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { CLOSE } from "#protocol/socket.ts";
import { openDashboard, type DashboardOptions, type TestDashboard } from "../kit/dashboard.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { openEvents } from "../kit/http.ts";
import { openSocket, type TestSocket } from "../kit/socket.ts";
import { until } from "../kit/until.ts";

interface Chat extends TestDashboard {
  readonly id: string;
  post(path: string, body?: object): ReturnType<TestDashboard["ask"]>;
  say(text: string, key: string, more?: object): ReturnType<TestDashboard["ask"]>;
  idle(): Promise<unknown>;
  socket(after?: string): Promise<TestSocket>;
}

async function openChat(t: TestContext, options: DashboardOptions = {}): Promise<Chat> {
  const dashboard = await openDashboard(t, options);
  const made = await dashboard.ask("/api/chat/sessions", { method: "POST", body: {} });
  assert.equal(made.status, 201);
  const id = String(made.json()["session_id"]);
  const base = `/api/chat/sessions/${id}`;
  const post = (path: string, body?: object) =>
    dashboard.ask(`${base}${path}`, { method: "POST", ...(body ? { body } : {}) });
  return {
    ...dashboard,
    id,
    post,
    say: (text, key, more = {}) => post("/messages", { text, client_message_id: key, ...more }),
    idle: () =>
      until("the session is idle", async () => {
        const state = await dashboard.ask(base);
        return state.json()["status"] === "idle" && state;
      }),
    async socket(after) {
      const socket = await openSocket(dashboard.url, { token: dashboard.token });
      t.after(() => socket.cut());
      socket.send({ type: "subscribe", session: id, ...(after === undefined ? {} : { after }) });
      return socket;
    },
  };
}

const ended = (socket: TestSocket, id: string): boolean =>
  socket.events(id).some(({ event }) => event.type === "turn-end");

const seqs = (socket: TestSocket, id: string): number[] =>
  socket.events(id).map((frame) => Number(frame.id.split(".").at(-1)));

test("a sent message is answered on the socket, and stored", async (t) => {
  const chat = await openChat(t);
  const socket = await chat.socket();
  await until("the snapshot", () => socket.events(chat.id).length > 0);
  assert.equal(socket.frames[0]?.type, "ready");
  assert.equal(socket.events(chat.id)[0]?.event.type, "snapshot");
  const sent = await chat.say("hello there", "m-1");
  assert.equal(sent.status, 202);
  assert.equal(sent.json()["status"], "started");
  await until("the turn ends", () => ended(socket, chat.id));
  assert.match(socket.text(chat.id), /You said: hello there/);
  const stored = await chat.ask(`/api/sessions/${chat.id}/messages`);
  const roles = stored.json<{ messages: { role: string; client_message_id: string | null }[] }>();
  assert.deepEqual(
    roles.messages.map(({ role }) => role),
    ["user", "assistant"],
  );
  assert.equal(roles.messages[0]?.client_message_id, "m-1");
});

test("deltas are merged to at most 30 frames a second, and nothing of the text is lost", async (t) => {
  const chat = await openChat(t, { demoDelayMs: 2 });
  const socket = await chat.socket();
  const startedAt = performance.now();
  await chat.say("stream 200", "m-1");
  await until("the turn ends", () => ended(socket, chat.id));
  const seconds = (performance.now() - startedAt) / 1000;
  const deltas = socket.events(chat.id).filter(({ event }) => event.type === "text-delta");
  assert.ok(deltas.length <= seconds * 30 + 2, `${deltas.length} frames in ${seconds} s`);
  assert.match(socket.text(chat.id), /word1 .*word200$/s);
});

test("a socket cut in the middle of an answer resumes with every event once", async (t) => {
  const chat = await openChat(t, { demoDelayMs: 5 });
  const whole = await chat.socket();
  const first = await chat.socket();
  await chat.say("stream 150", "m-1");
  await until("some text", () => first.text(chat.id).includes("word20 "));
  first.cut();
  const last = first.events(chat.id).at(-1)?.id;
  assert.ok(last);
  const second = await chat.socket(last);
  await until("the turn ends", () => ended(second, chat.id) && ended(whole, chat.id));
  assert.equal(first.text(chat.id) + second.text(chat.id), whole.text(chat.id));
  assert.ok(!second.events(chat.id).some(({ event }) => event.type === "snapshot"));
  const all = [...seqs(first, chat.id), ...seqs(second, chat.id)];
  assert.deepEqual(
    all,
    [...new Set(all)].sort((a, b) => a - b),
  );
});

test("an id of another run, or none, gets a snapshot that with later events rebuilds the answer", async (t) => {
  const chat = await openChat(t, { demoDelayMs: 5 });
  const whole = await chat.socket();
  await chat.say("stream 100", "m-1");
  await until("some text", () => whole.text(chat.id).includes("word10 "));
  const late = await chat.socket("otherlife.5");
  await until("the turn ends", () => ended(late, chat.id) && ended(whole, chat.id));
  const [snapshot, ...rest] = late.events(chat.id);
  assert.ok(snapshot?.event.type === "snapshot" && snapshot.event.turn);
  assert.equal(snapshot.event.turn.text + late.text(chat.id), whole.text(chat.id));
  assert.ok(rest.every((frame) => frame.event.seq > snapshot.event.seq));
});

test("server-sent events: resume by Last-Event-ID gives later events only", async (t) => {
  const chat = await openChat(t);
  const path = `${chat.url}/api/chat/sessions/${chat.id}/events`;
  const auth = { "x-hermes-session-token": chat.token };
  const first = openEvents(path, auth);
  t.after(first.close);
  await until("the snapshot", () => first.messages.length > 0);
  assert.equal(first.seen.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(first.seen.headers["cache-control"], "no-cache, no-transform");
  assert.equal(first.seen.headers["x-accel-buffering"], "no");
  await chat.say("hello", "m-1");
  await until("the end", () => first.messages.some(({ event }) => event === "turn-end"));
  const middle = first.messages[2];
  const again = openEvents(path, { ...auth, "last-event-id": middle?.id ?? "" });
  t.after(again.close);
  const later = first.messages.slice(3);
  await until("the rest", () => again.messages.some(({ event }) => event === "turn-end"));
  assert.ok(again.messages.every(({ event }) => event !== "snapshot"));
  assert.equal(again.messages.at(-1)?.id, later.at(-1)?.id);
  const textOf = (messages: readonly { event: string; data: string }[]): string =>
    messages
      .filter(({ event }) => event === "text-delta")
      .map(({ data }) => (JSON.parse(data) as { text: string }).text)
      .join("");
  assert.equal(textOf(again.messages), textOf(later));
  const head = await chat.ask(`/api/chat/sessions/${chat.id}/events`, { method: "HEAD" });
  assert.equal(head.status, 200);
  await until("only two streams", () => chat.running.counts().streams === 2);
});

test("the fifth stream of one caller on one session is refused; an unknown session is 404", async (t) => {
  const chat = await openChat(t);
  const path = `/api/chat/sessions/${chat.id}/events`;
  const auth = { "x-hermes-session-token": chat.token };
  const streams = Array.from({ length: 4 }, () => openEvents(`${chat.url}${path}`, auth));
  t.after(() => streams.forEach((stream) => stream.close()));
  await until("four streams", () => chat.running.counts().streams === 4);
  assert.equal((await chat.ask(path)).status, 429);
  streams[0]?.close();
  await until("three streams", () => chat.running.counts().streams === 3);
  const gone = await chat.ask("/api/chat/sessions/20200101_000000_ffffff/events");
  assert.deepEqual([gone.status, gone.json()["code"]], [404, "not_found"]);
});

test("the same client_message_id twice is one turn with one answer", async (t) => {
  const chat = await openChat(t);
  const answers = await Promise.all([chat.say("hi", "same"), chat.say("hi", "same")]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202],
  );
  assert.equal(answers[0]?.body, answers[1]?.body);
  await chat.idle();
  assert.equal((await chat.say("hi", "same")).body, answers[0]?.body);
  const stored = await chat.ask(`/api/sessions/${chat.id}/messages`);
  assert.equal(stored.json<{ messages: unknown[] }>().messages.length, 2);
});

test("busy: 409 with the holder without when_busy; queue waits; stop keeps and marks the text", async (t) => {
  const chat = await openChat(t, { demoDelayMs: 20 });
  const socket = await chat.socket();
  await chat.say("stream 500", "m-1");
  await until("some text", () => socket.text(chat.id).includes("word3 "));
  const state = (await chat.ask(`/api/chat/sessions/${chat.id}`)).json();
  assert.deepEqual([state["status"], state["holder"]], ["running", "web"]);
  const busy = await chat.say("other", "m-2");
  assert.equal(busy.status, 409);
  assert.deepEqual([busy.json()["code"], busy.json()["holder"]], ["session_busy", "web"]);
  const queued = await chat.say("queued text", "m-3", { when_busy: "queue" });
  assert.equal(queued.json()["status"], "queued");
  const queueId = String(queued.json()["queue_id"]);
  assert.equal((await chat.post("/unqueue", { queue_id: queueId })).status, 200);
  assert.equal((await chat.post("/unqueue", { queue_id: queueId })).status, 404);
  assert.deepEqual((await chat.post("/stop")).json(), { stopped: true });
  await chat.idle();
  assert.deepEqual((await chat.post("/stop")).json(), { stopped: false });
  const stored = await chat.ask(`/api/sessions/${chat.id}/messages?order=desc&limit=1`);
  const [last] = stored.json<{ messages: { content: string; finish_reason: string }[] }>().messages;
  assert.equal(last?.finish_reason, "interrupted");
  assert.match(last?.content ?? "", /word3 /);
});

test("an approval is decided once: the second answer is 409 with the choice, an unknown one 404", async (t) => {
  const chat = await openChat(t);
  const socket = await chat.socket();
  await chat.say("run rm -rf ./build", "m-1");
  const request = await until("an approval request", () =>
    socket.events(chat.id).find(({ event }) => event.type === "approval-request"),
  );
  assert.ok(request.event.type === "approval-request");
  const path = `/approvals/${request.event.requestId}`;
  const state = (await chat.ask(`/api/chat/sessions/${chat.id}`)).json<{
    status: string;
    pending: { approvals: { requestId: string }[] };
  }>();
  assert.equal(state.status, "waiting");
  assert.equal(state.pending.approvals[0]?.requestId, request.event.requestId);
  assert.equal((await chat.post(path, { choice: "maybe" })).status, 422);
  assert.equal((await chat.post("/approvals/nothing", { choice: "deny" })).status, 404);
  assert.deepEqual((await chat.post(path, { choice: "deny" })).json(), { ok: true });
  const again = await chat.post(path, { choice: "once" });
  assert.deepEqual([again.status, again.json()["choice"]], [409, "deny"]);
  await until("the turn ends", () => ended(socket, chat.id));
});

test("a question is answered; retry, undo, model and yolo for this session", async (t) => {
  const chat = await openChat(t);
  const socket = await chat.socket();
  await chat.say("ask", "m-1");
  const request = await until("a question", () =>
    socket.events(chat.id).find(({ event }) => event.type === "clarify-request"),
  );
  assert.ok(request.event.type === "clarify-request");
  const answered = await chat.post(`/clarify/${request.event.requestId}`, { answer: "red" });
  assert.equal(answered.status, 200);
  await chat.idle();
  const retried = await chat.post("/retry", { client_message_id: "m-2" });
  assert.equal(retried.status, 202);
  const second = await until("the question again", () => {
    const all = socket.events(chat.id).filter(({ event }) => event.type === "clarify-request");
    return all[1];
  });
  assert.ok(second.event.type === "clarify-request");
  await chat.post(`/clarify/${second.event.requestId}`, { answer: "blue" });
  await chat.idle();
  assert.ok(Number((await chat.post("/undo")).json()["removed"]) > 0);
  const path = `/api/chat/sessions/${chat.id}`;
  const patched = await chat.ask(path, { method: "PATCH", body: { yolo: true, effort: "low" } });
  assert.equal(patched.status, 200);
  assert.equal((await chat.ask(path, { method: "PATCH", body: { effort: "huge" } })).status, 422);
});

test("attachments are stored 0600 in the home and named in the user text", async (t) => {
  const chat = await openChat(t);
  const upload = (name: string, bytes: Buffer) =>
    chat.ask("/api/chat/attachments", {
      method: "POST",
      headers: { "content-type": "image/png; x=y", "x-file-name": name },
      body: bytes,
    });
  const made = await upload(encodeURIComponent("../../Bild ä.png"), Buffer.from("png-bytes"));
  assert.equal(made.status, 201);
  const { id, ...rest } = made.json<{ id: string; name: string; size: number; mime: string }>();
  assert.deepEqual(rest, { name: "Bild ä.png", size: 9, mime: "image/png" });
  const file = join(chat.home, "cache", "media", id, "Bild ä.png");
  assert.equal(readFileSync(file, "utf8"), "png-bytes");
  await chat.say("look", "m-1", { attachments: [id] });
  await chat.idle();
  const stored = await chat.ask(`/api/sessions/${chat.id}/messages`);
  const [user] = stored.json<{ messages: { content: string }[] }>().messages;
  assert.equal(user?.content, `look\n[file: ${file}, image/png, 9]`);
  assert.equal((await chat.say("x", "m-2", { attachments: ["att_nothing"] })).status, 422);
  assert.equal((await upload("%E0%A4%A", Buffer.from("x"))).status, 400);
});

test("an attachment that nobody used is gone after 24 h, a used one stays", async (t) => {
  const clock = new FakeClock(Date.now());
  const chat = await openChat(t, { clock });
  const upload = async () =>
    String(
      (
        await chat.ask("/api/chat/attachments", {
          method: "POST",
          headers: { "content-type": "text/plain", "x-file-name": "a.txt" },
          body: "text",
        })
      ).json()["id"],
    );
  const [used, unused] = [await upload(), await upload()];
  await chat.say("see", "m-1", { attachments: [used] });
  await chat.idle();
  await clock.advance(24 * 3600_000 + 60_000);
  const fresh = await upload();
  const media = join(chat.home, "cache", "media");
  assert.deepEqual(readdirSync(media).sort(), [used, fresh].sort());
  assert.ok(!existsSync(join(media, unused)));
});

test("no model ready is 409 conflict; too long a text 413; an empty one 422", async (t) => {
  const none = await openDashboard(t, { config: "timezone: UTC\n" });
  const made = await none.ask("/api/chat/sessions", { method: "POST", body: {} });
  assert.deepEqual([made.status, made.json()["code"]], [409, "conflict"]);
  const chat = await openChat(t);
  assert.equal((await chat.say("a".repeat(256 * 1024 + 1), "m-1")).status, 413);
  assert.equal((await chat.say("  ", "m-1")).status, 422);
  assert.equal((await chat.say("hi", "bad key!")).status, 422);
});

test("credentials of upgrades: token, ticket once, header; without or wrong 4401", async (t) => {
  const dashboard = await openDashboard(t);
  const { url, token } = dashboard;
  const close = async (options: Parameters<typeof openSocket>[1]): Promise<number | null> => {
    const socket = await openSocket(url, options);
    t.after(() => socket.cut());
    const isReady = socket.frames.length > 0;
    return isReady ? null : (socket.closed?.code ?? -1);
  };
  assert.equal(await close({ token }), null);
  assert.equal(await close({ headers: { "x-hermes-session-token": token } }), null);
  assert.equal(await close({}), CLOSE.unauthorized);
  assert.equal(await close({ token: "wrong" }), CLOSE.unauthorized);
  const minted = await dashboard.ask("/api/auth/ws-ticket", { method: "POST" });
  const { ticket, ttl_seconds: ttl } = minted.json<{ ticket: string; ttl_seconds: number }>();
  assert.equal(ttl, 30);
  assert.equal(await close({ query: `?ticket=${ticket}` }), null);
  assert.equal(await close({ query: `?ticket=${ticket}` }), CLOSE.unauthorized);
  const audit = readFileSync(join(dashboard.home, "logs", "dashboard-auth.log"), "utf8");
  assert.match(audit, /ws_ticket_minted/);
  assert.match(audit, /"ws_ticket_rejected","reason":"unknown"/);
  assert.ok(!audit.includes(ticket) && !audit.includes(token));
});

test("frames: malformed ones are answered, the twentieth closes 4400, a big one 1009", async (t) => {
  const { url, token } = await openDashboard(t);
  const socket = await openSocket(url, { token });
  const bad = [
    "{",
    "[]",
    "null",
    '{"type":"x"}',
    '{"type":"subscribe"}',
    '{"type":"subscribe","topic":"x"}',
  ];
  for (let n = 0; n < 20; n++) socket.send(bad[n % bad.length] ?? "");
  await until("the close", () => socket.closed);
  assert.equal(socket.closed?.code, CLOSE.badParameter);
  const errors = socket.frames.filter((frame) => frame.type === "error");
  assert.ok(errors.length >= 19 && errors.every(({ code }) => code === "invalid"));
  const big = await openSocket(url, { token });
  big.send("x".repeat(64 * 1024 + 1));
  await until("the close", () => big.closed);
  assert.equal(big.closed?.code, CLOSE.tooLarge);
  const lost = await openSocket(url, { token });
  t.after(() => lost.cut());
  lost.send({ type: "subscribe", session: "20200101_000000_ffffff" });
  const error = await until("an error", () => lost.frames.find(({ type }) => type === "error"));
  assert.deepEqual(
    { ...error, detail: "" },
    { type: "error", code: "not_found", session: "20200101_000000_ffffff", detail: "" },
  );
});

test("20 rounds of open and close leave nothing behind", async (t) => {
  const chat = await openChat(t);
  for (let n = 0; n < 20; n++) {
    const socket = await openSocket(chat.url, { token: chat.token });
    socket.send({ type: "subscribe", session: chat.id });
    socket.send({ type: "subscribe", topic: "sessions" });
    await until("the snapshot", () => socket.events(chat.id).length > 0);
    if (n % 2 === 0) socket.cut();
    else socket.ws.close(1000);
  }
  await until("everything is gone", () => {
    const { sockets, streams, watchers } = chat.running.counts();
    return sockets === 0 && streams === 0 && watchers === 0;
  });
});

test("a socket is pinged every 20 s; one that does not answer is ended", async (t) => {
  const clock = new FakeClock();
  const { url, token } = await openDashboard(t, { clock });
  const alive = await openSocket(url, { token });
  const dead = await openSocket(url, { token, autoPong: false });
  t.after(() => alive.cut());
  let pings = 0;
  alive.ws.on("ping", () => pings++);
  for (let n = 1; n <= 15; n++) {
    await clock.advance(20_000);
    await until("the ping", () => pings === n);
  }
  await until("the dead one is ended", () => dead.closed);
  assert.equal(dead.closed?.code, 1006);
  assert.equal(alive.closed, null);
});

test("server events: a change of sessions and of settings reaches socket and stream", async (t) => {
  const dashboard = await openDashboard(t);
  const socket = await openSocket(dashboard.url, { token: dashboard.token });
  t.after(() => socket.cut());
  socket.send({ type: "subscribe", topic: "sessions" });
  const stream = openEvents(`${dashboard.url}/api/events?topics=config`, {
    "x-hermes-session-token": dashboard.token,
  });
  t.after(stream.close);
  await until("both watch", () => dashboard.running.counts().watchers === 2);
  await dashboard.ask("/api/chat/sessions", { method: "POST", body: {} });
  const change = await until("the change", () =>
    socket.frames.find(({ type }) => type === "change"),
  );
  assert.ok(change.type === "change");
  assert.deepEqual([change.topic, change.profile], ["sessions", "default"]);
  await dashboard.ask("/api/dashboard/theme", { method: "PUT", body: { name: "ember" } });
  await until("the event", () => stream.messages.find(({ event }) => event === "config"));
  assert.equal((await dashboard.ask("/api/events?topics=nonsense")).status, 422);
});

test("stop closes sockets with 1001, ends streams and marks the running turn", async (t) => {
  const chat = await openChat(t, { demoDelayMs: 20 });
  const socket = await chat.socket();
  const stream = openEvents(`${chat.url}/api/events`, { "x-hermes-session-token": chat.token });
  await chat.say("stream 500", "m-1");
  await until("some text", () => socket.text(chat.id).includes("word3 "));
  const startedAt = performance.now();
  await chat.running.stop();
  assert.ok(performance.now() - startedAt < 3000);
  await until("both ended", () => socket.closed && stream.seen.ended);
  assert.equal(socket.closed?.code, CLOSE.goingAway);
  const { messages } = await (chat.stores.get("default") ?? assert.fail()).readMessages(chat.id, {
    limit: 10,
    order: "desc",
  });
  assert.equal(messages[0]?.finishReason, "interrupted");
});

test("a text said anew takes the place of it and of all that came after; asked twice it is done once", async (t) => {
  const chat = await openChat(t);
  const first = await chat.say("one", "m-1");
  await chat.idle();
  await chat.say("two", "m-2");
  await chat.idle();
  const replaces = first.json()["message_id"];
  const anew = await chat.say("three", "m-3", { replaces });
  assert.equal(anew.status, 202);
  await chat.idle();
  const again = await chat.say("three", "m-3", { replaces });
  assert.deepEqual([again.status, again.json()], [202, anew.json()]);
  const page = await chat.ask(`/api/sessions/${chat.id}/messages`);
  const rows = page.json()["messages"] as { role: string; content: string; active: boolean }[];
  const texts = rows.filter(({ role, active }) => role === "user" && active);
  assert.deepEqual(
    texts.map(({ content }) => content),
    ["three"],
  );
  const refusals: readonly (readonly [object, number])[] = [
    [{ replaces }, 404],
    [{ replaces: 999_999 }, 404],
    [{ replaces: anew.json()["message_id"], when_busy: "queue" }, 422],
    [{ replaces: 0 }, 422],
  ];
  for (const [more, status] of refusals) {
    const answer = await chat.say("four", `m-${JSON.stringify(more).length}x`, more);
    assert.equal(answer.status, status, JSON.stringify(more));
  }
});
