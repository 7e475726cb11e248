// The application service over a real home, the demo model and real tools.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { epochSeconds, systemClock, type Clock } from "#base/clock.ts";
import { isHermesError } from "#base/errors.ts";
import { openSessionHome, watch } from "../../test/kit/session-home.ts";
import { until } from "../../test/kit/until.ts";

const web = { surface: "web", answerable: true } as const;
const code = (name: string) => (error: unknown) => isHermesError(error, name);

test("a message is answered, stored, titled and told to its viewers", async (t) => {
  const { service, store, work } = await openSessionHome(t);
  const row = await service.start({ source: "web", cwd: work });
  const viewer = await watch(service, row.id);
  const sent = await service.send(row.id, { ...web, text: "hello there", clientKey: "k1" });
  assert.equal(sent.status, "started");
  const result = await service.settled(row.id);
  assert.equal(result?.outcome, "done");
  assert.match(result?.text ?? "", /^\[demo model: not an AI\]/u);
  assert.equal(viewer.text(), result?.text);
  const { messages } = await store.readMessages(row.id, { limit: 10, order: "asc" });
  assert.deepEqual(
    messages.map((message) => [message.role, message.content]),
    [
      ["user", "hello there"],
      ["assistant", result?.text],
    ],
  );
  await until("a title", async () => (await store.getSession(row.id))?.title === "hello there");
  assert.equal((await service.state(row.id)).status, "idle");
});

test("the same client key gives the same answer and one turn, also in another life", async (t) => {
  const first = await openSessionHome(t);
  const row = await first.service.start({ source: "web", cwd: first.work });
  const options = { ...web, text: "once", clientKey: "same" };
  const [one, two] = await Promise.all([
    first.service.send(row.id, options),
    first.service.send(row.id, options),
  ]);
  assert.deepEqual(one, two);
  await first.service.settled(row.id);
  const second = await openSessionHome(t, { store: first.store });
  assert.deepEqual(await second.service.send(row.id, options), one);
  const { messages } = await first.store.readMessages(row.id, { limit: 10, order: "asc" });
  assert.equal(messages.filter((message) => message.role === "user").length, 1);
});

test("a busy session refuses, queues, steers or interrupts as asked", async (t) => {
  const { service, store, work } = await openSessionHome(t, { env: { HERMES_DEMO_DELAY_MS: "5" } });
  const row = await service.start({ source: "web", cwd: work });
  await service.send(row.id, { ...web, text: "stream 2000" });
  await assert.rejects(service.send(row.id, { ...web, text: "me too" }), (error) => {
    return isHermesError(error, "SESSION_BUSY") && error.data["holder"] === "web";
  });
  const later = await service.send(row.id, { ...web, text: "queued one", whenBusy: "queue" });
  assert.equal(later.status, "queued");
  const now = await service.send(row.id, { ...web, text: "right now", whenBusy: "interrupt" });
  assert.equal(now.status, "queued");
  await service.settled(row.id);
  const { messages } = await store.readMessages(row.id, { limit: 20, order: "asc" });
  assert.deepEqual(
    messages.filter((m) => m.role === "user").map((m) => m.content),
    ["stream 2000", "right now", "queued one"],
  );
  assert.equal(messages[1]?.finishReason, "interrupted");
});

test("stop keeps what was shown, marks it and says false when nothing runs", async (t) => {
  const { service, store, work } = await openSessionHome(t, { env: { HERMES_DEMO_DELAY_MS: "5" } });
  const row = await service.start({ source: "web", cwd: work });
  const viewer = await watch(service, row.id);
  await service.send(row.id, { ...web, text: "stream 2000" });
  await until("some text", () => viewer.text().length > 200);
  assert.equal(await service.stop(row.id), true);
  assert.equal(await service.stop(row.id), false);
  const { messages } = await store.readMessages(row.id, { limit: 20, order: "asc" });
  assert.equal(messages.at(-1)?.content, viewer.text());
  assert.equal(messages.at(-1)?.finishReason, "interrupted");
});

test("a viewer that reconnects in the middle sees everything exactly once", async (t) => {
  const { service, work } = await openSessionHome(t, { env: { HERMES_DEMO_DELAY_MS: "2" } });
  const row = await service.start({ source: "web", cwd: work });
  const whole = await watch(service, row.id);
  const first = await watch(service, row.id);
  await service.send(row.id, { ...web, text: "stream 300" });
  await until("some text", () => first.text().length > 100);
  first.close();
  const last = first.events.at(-1)?.id ?? "";
  await until(
    "text that the first viewer missed",
    () => whole.text().length > first.text().length + 50,
  );
  const again = await watch(service, row.id, last);
  const late = await watch(service, row.id, "another-life.12");
  const result = await service.settled(row.id);
  assert.equal(first.text() + again.text(), result?.text);
  const snapshot = late.events[0]?.event;
  assert.equal(snapshot?.type, "snapshot");
  assert.equal(
    (snapshot?.type === "snapshot" ? (snapshot.turn?.text ?? "") : "") + late.text(),
    result?.text,
  );
});

test("an approval is asked, answered once and obeyed", async (t) => {
  const { service, work } = await openSessionHome(t);
  const row = await service.start({ source: "web", cwd: work });
  const viewer = await watch(service, row.id);
  await service.send(row.id, { ...web, text: "run rm -rf ./build" });
  const asked = await until("an approval", () =>
    viewer.events.map(({ event }) => event).find((event) => event.type === "approval-request"),
  );
  assert.equal((await service.state(row.id)).status, "waiting");
  assert.equal(asked.detail, "rm -rf ./build");
  assert.deepEqual(await service.answerApproval(row.id, asked.requestId, "deny", "web"), {
    ok: true,
  });
  assert.deepEqual(await service.answerApproval(row.id, asked.requestId, "once", "web"), {
    ok: false,
    reason: "decided",
    choice: "deny",
  });
  const result = await service.settled(row.id);
  assert.equal(result?.outcome, "done");
  const ended = viewer.events.map(({ event }) => event).find((event) => event.type === "tool-end");
  assert.equal(ended?.ok, false);
});

test("a session that another live process runs is busy, naming its surface", async (t) => {
  const { service, store, work } = await openSessionHome(t);
  const row = await service.start({ source: "cli", cwd: work });
  const owner = { pid: 1, startTime: "", host: "elsewhere", surface: "tui" };
  await store.takeLease(row.id, {
    turnId: "t",
    owner,
    now: epochSeconds(systemClock),
    ttlSeconds: 30,
  });
  await assert.rejects(service.send(row.id, { ...web, text: "hi" }), (error) => {
    return isHermesError(error, "SESSION_BUSY") && error.data["holder"] === "tui";
  });
  assert.equal((await service.state(row.id)).holder, "tui");
});

test("undo and retry leave a conversation alone in which another process runs a turn", async (t) => {
  const { service, store, work } = await openSessionHome(t);
  const row = await service.start({ source: "web", cwd: work });
  await service.send(row.id, { ...web, text: "hello" });
  await service.settled(row.id);
  const owner = { pid: 1, startTime: "x", host: "elsewhere", surface: "cli" };
  const now = epochSeconds(systemClock);
  await store.takeLease(row.id, { turnId: "theirs", owner, now, ttlSeconds: 30 });
  await assert.rejects(service.undo(row.id), code("SESSION_BUSY"));
  await assert.rejects(service.retry(row.id, web), code("SESSION_BUSY"));
  const { messages } = await store.loadHistory(row.id);
  assert.deepEqual(
    messages.map((message) => message.role),
    ["user", "assistant"],
  );
});

test("a retry that finds no model to ask takes nothing back", async (t) => {
  const { service, store, work } = await openSessionHome(t);
  const row = await service.start({ source: "web", cwd: work });
  await service.send(row.id, { ...web, text: "hello" });
  await service.settled(row.id);
  const other = await openSessionHome(t, { store, config: "{}" });
  await store.updateSession(row.id, { model: "gone", modelConfig: { provider: "openai" } });
  await assert.rejects(other.service.retry(row.id, web), code("MODEL_NOT_CONFIGURED"));
  assert.equal((await store.loadHistory(row.id)).messages.length, 2);
});

test("undo and retry take the last exchange back", async (t) => {
  const { service, store, work } = await openSessionHome(t);
  const row = await service.start({ source: "web", cwd: work });
  await service.send(row.id, { ...web, text: "first" });
  await service.settled(row.id);
  await service.retry(row.id, web);
  await service.settled(row.id);
  let { messages } = await store.loadHistory(row.id);
  assert.deepEqual(
    messages.map((message) => message.role),
    ["user", "assistant"],
  );
  assert.equal(await service.undo(row.id), 2);
  ({ messages } = await store.loadHistory(row.id));
  assert.equal(messages.length, 0);
  await assert.rejects(service.undo(row.id), code("NOTHING_TO_RETRY"));
});

test("bad input is named: empty, too large, unknown session, no model", async (t) => {
  const { service, work } = await openSessionHome(t);
  const row = await service.start({ source: "web", cwd: work });
  await assert.rejects(service.send(row.id, { ...web, text: "  \n" }), code("MESSAGE_EMPTY"));
  await assert.rejects(
    service.send(row.id, { ...web, text: "x".repeat(1_000_000) }),
    code("MESSAGE_TOO_LARGE"),
  );
  await assert.rejects(service.send("nope", { ...web, text: "x" }), code("SESSION_NOT_FOUND"));
  await assert.rejects(service.resolve("nope"), code("SESSION_NOT_FOUND"));
  const bare = await openSessionHome(t, { config: "{}\n" });
  await assert.rejects(bare.service.start({ source: "web" }), code("MODEL_NOT_CONFIGURED"));
});

test("closing ends the turn, saves its text and leaves no child process", async (t) => {
  const { service, store, work } = await openSessionHome(t, { overrides: { yolo: true } });
  const row = await service.start({ source: "web", cwd: work });
  const viewer = await watch(service, row.id);
  await service.send(row.id, { ...web, text: "run touch started; sleep 60 && touch late" });
  await until("the command runs", () => existsSync(join(work, "started")));
  const begun = performance.now();
  await service.close("shutdown");
  assert.ok(performance.now() - begun < 20_000);
  assert.equal(viewer.events.at(-1)?.event.type, "turn-end");
  await assert.rejects(service.send(row.id, { ...web, text: "more" }), code("SHUTTING_DOWN"));
  const { messages } = await store.readMessages(row.id, { limit: 10, order: "asc" });
  assert.deepEqual(
    messages.map((message) => message.role),
    ["user", "assistant", "tool"],
  );
});

test("a session of the API is let go some time after its turn, and goes on from the store", async (t) => {
  // The ten minutes are over at once; every other wait is a real one.
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => systemClock.after(ms >= 600_000 ? 1 : ms, run),
  };
  const { service, work } = await openSessionHome(t, { clock });
  const ask = async (surface: string, sessionId: string): Promise<void> => {
    await service.send(sessionId, { surface, answerable: false, text: "hello" });
    assert.equal((await service.settled(sessionId))?.outcome, "done");
  };
  const eventOf = async (id: string) => (await service.state(id)).lastEventId.split(".").at(-1);
  const api = await service.start({ source: "api-server", cwd: work });
  const chat = await service.start({ source: "web", cwd: work });
  await ask("web", chat.id);
  await ask("api-server", api.id);
  await until("it is forgotten", async () => (await eventOf(api.id)) === "0");
  assert.notEqual(await eventOf(chat.id), "0");
  await ask("api-server", api.id);
});
