// What every SessionStore does, whatever it is made of (agent.md §6.1): run on SQLite and on the store in memory.
// Longer than most files: it is one whole contract.
import assert from "node:assert/strict";
import { hostname } from "node:os";
import { describe, test, type TestContext } from "node:test";
import type { LeaseOwner, NewMessage, SessionStore } from "#agent/ports/session-store.ts";
import { isHermesError } from "#base/errors.ts";
import type { ProcessIdentity } from "#base/process-identity.ts";
import type { SessionRow } from "#protocol/messages.ts";

export interface StoreFixture {
  readonly isAlive: (identity: ProcessIdentity) => boolean;
  /** Seconds since 1970. */
  readonly now: () => number;
}

export type MakeStore = (t: TestContext, fixture: StoreFixture) => Promise<SessionStore>;

const NOW = 1_800_000_000;
const DEAD_PID = 4_000_001;
const ALIVE: LeaseOwner = { pid: 4_000_002, startTime: "1", host: hostname(), surface: "web" };
const DEAD: LeaseOwner = { ...ALIVE, pid: DEAD_PID, surface: "cli" };
const USAGE = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, reasoning: 1 };

function code(expected: string): (error: unknown) => boolean {
  return (error) => isHermesError(error, expected);
}

function user(content: string, timestamp = NOW): NewMessage {
  return { role: "user", content, timestamp };
}

function answer(content: string, timestamp = NOW): NewMessage {
  return { role: "assistant", content, timestamp, finishReason: "stop" };
}

function call(...ids: string[]): NewMessage {
  const toolCalls = ids.map((id) => ({ id, name: "terminal", arguments: `{"n":"${id}"}` }));
  return { role: "assistant", content: null, toolCalls, timestamp: NOW, turnId: "t1" };
}

function result(toolCallId: string): NewMessage {
  return {
    role: "tool",
    content: `of ${toolCallId}`,
    toolCallId,
    toolName: "terminal",
    timestamp: NOW,
  };
}

async function* linesOf(lines: readonly string[]): AsyncIterable<string> {
  for (const line of lines) yield line;
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

export function sessionStoreContract(name: string, makeStore: MakeStore): void {
  const open = (t: TestContext): Promise<SessionStore> =>
    makeStore(t, { isAlive: (identity) => identity.pid !== DEAD_PID, now: () => NOW });
  const make = (
    store: SessionStore,
    id: string,
    more: Partial<Parameters<SessionStore["createSession"]>[0]> = {},
  ): Promise<SessionRow> =>
    store.createSession({ id, source: "cli", startedAt: NOW - 100, ...more });
  const ids = (rows: readonly SessionRow[]): string[] => rows.map((row) => row.id);

  describe(`session store: ${name}`, () => {
    test("a session is kept as it was made", async (t) => {
      const store = await open(t);
      const modelConfig = { provider: "demo", effort: "low" };
      await make(store, "s1", {
        model: "m",
        modelConfig,
        title: "Plan",
        titleSource: "user",
        cwd: "/w",
      });
      const row = await store.getSession("s1");
      assert.partialDeepStrictEqual(row, {
        id: "s1",
        source: "cli",
        model: "m",
        modelConfig,
        title: "Plan",
        titleSource: "user",
        cwd: "/w",
        rootId: "s1",
        parentSessionId: null,
        startedAt: NOW - 100,
        lastActiveAt: NOW - 100,
        endedAt: null,
        messageCount: 0,
        costUsd: null,
        state: "idle",
        hidden: false,
      });
      assert.equal(await store.getSession("s2"), null);
    });

    test("ids and titles are unique, parents exist", async (t) => {
      const store = await open(t);
      await make(store, "s1", { title: "Plan" });
      await assert.rejects(make(store, "s1"), code("SESSION_EXISTS"));
      await assert.rejects(make(store, "s2", { title: "Plan" }), code("TITLE_TAKEN"));
      await assert.rejects(make(store, "s3", { parentSessionId: "no" }), code("SESSION_NOT_FOUND"));
      await make(store, "s4");
      await assert.rejects(store.updateSession("s4", { title: "Plan" }), code("TITLE_TAKEN"));
      assert.equal((await store.updateSession("s1", { title: "Plan" })).title, "Plan");
      assert.deepEqual(ids((await listAll(store)).sessions).sort(), ["s1", "s4"]);
    });

    test("a reference is an id, a unique prefix, a title or latest", async (t) => {
      const store = await open(t);
      await make(store, "20260101_a1", { title: "First" });
      await make(store, "20260101_a2", { startedAt: NOW - 50 });
      await make(store, "20260202_b1", { startedAt: NOW, source: "cron" });
      const cases: readonly (readonly [string, string | readonly string[] | null])[] = [
        ["20260101_a1", "20260101_a1"],
        ["20260202", "20260202_b1"],
        ["20260101", ["20260101_a1", "20260101_a2"]],
        ["First", "20260101_a1"],
        ["latest", "20260101_a2"],
        ["first", null],
        ["", null],
        ["%", null],
      ];
      for (const [ref, expected] of cases) {
        const found = await store.resolveSession(ref);
        if (found.found === "one") assert.equal(found.session.id, expected, ref);
        else if (found.found === "many") {
          assert.deepEqual(ids(found.candidates).sort(), expected, ref);
        } else assert.equal(expected, null, ref);
      }
    });

    test("lists are newest first, by page, without what is hidden", async (t) => {
      const store = await open(t);
      await make(store, "s1", { cwd: "/a" });
      await make(store, "s2", { cwd: "/b", startedAt: NOW - 90 });
      await make(store, "s3", { source: "cron", startedAt: NOW - 80 });
      await make(store, "s4", { startedAt: NOW - 70 });
      await make(store, "s5", { startedAt: NOW - 60 });
      await store.updateSession("s4", { hidden: true });
      await store.updateSession("s5", { archived: true });
      await store.appendMessages("s1", [user("hello")]);
      const cases = [
        [{}, ["s1", "s2"]],
        [{ source: "cron" }, ["s3"]],
        [{ all: true }, ["s1", "s4", "s3", "s2"]],
        [{ archived: true }, ["s1", "s5", "s2"]],
        [{ cwd: "/b" }, ["s2"]],
      ] as const;
      for (const [filter, expected] of cases) {
        const page = await store.listSessions({ limit: 10, offset: 0, ...filter });
        assert.deepEqual(ids(page.sessions), expected, JSON.stringify(filter));
        assert.equal(page.total, expected.length);
      }
      const second = await store.listSessions({ limit: 1, offset: 1 });
      assert.deepEqual([ids(second.sessions), second.total], [["s2"], 2]);
    });

    test("a patch changes what it names and nothing else", async (t) => {
      const store = await open(t);
      const before = await make(store, "s1", { model: "a", cwd: "/w" });
      const patch = {
        model: null,
        modelConfig: { provider: "x" },
        systemPrompt: "be brief",
        toolsHash: "h",
        title: "T",
        titleSource: "model",
        state: "interrupted",
        pinned: true,
      } as const;
      assert.deepEqual(await store.updateSession("s1", patch), { ...before, ...patch });
      await assert.rejects(store.updateSession("s9", { pinned: true }), code("SESSION_NOT_FOUND"));
    });

    test("ended sessions are not active", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      await make(store, "s2", { startedAt: NOW - 1000 });
      await make(store, "s3");
      await store.endSession("s3", "done", NOW);
      assert.equal(await store.countActive(NOW - 300), 1);
      assert.partialDeepStrictEqual(await store.getSession("s3"), {
        endedAt: NOW,
        endReason: "done",
      });
    });

    test("a leased session is not deleted; children outlive their parent", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      await make(store, "s2", { parentSessionId: "s1" });
      await store.appendMessages("s1", [user("hello")]);
      await store.takeLease("s1", { turnId: "t1", owner: ALIVE, now: NOW, ttlSeconds: 30 });
      await assert.rejects(store.deleteSession("s1"), (error) => {
        assert.ok(isHermesError(error, "SESSION_BUSY"));
        return error.data["holder"] === "web";
      });
      assert.equal((await store.readMessages("s1", { limit: 5, order: "asc" })).total, 1);
      await store.dropLease("s1", "t1");
      await store.deleteSession("s1");
      assert.equal(await store.getSession("s1"), null);
      assert.equal((await store.getSession("s2"))?.parentSessionId, null);
      assert.equal((await store.stats()).messages, 0);
      await assert.rejects(store.deleteSession("s1"), code("SESSION_NOT_FOUND"));
    });

    test("the newest descendant is found along the newest children", async (t) => {
      const store = await open(t);
      await make(store, "a");
      await make(store, "b1", { parentSessionId: "a", startedAt: NOW - 50 });
      await make(store, "b2", { parentSessionId: "a", startedAt: NOW - 40 });
      await make(store, "c", { parentSessionId: "b2", startedAt: NOW - 30 });
      const newest = await store.newestDescendant("a");
      assert.deepEqual([newest.session.id, newest.path], ["c", ["a", "b2", "c"]]);
      assert.deepEqual((await store.newestDescendant("b1")).path, ["b1"]);
      assert.deepEqual(ids(await store.lineage("c")), ["a", "b1", "b2", "c"]);
    });

    test("messages are appended in order, once per key, and counted", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      await make(store, "s2");
      const keyed = { ...user("hello", NOW - 5), clientKey: "k1", platformMessageId: "p" };
      const first = await store.appendMessages("s1", [keyed, call("c1", "c2"), result("c1")]);
      assert.equal(first.length, 3);
      assert.deepEqual(
        [...first].sort((a, b) => a - b),
        first,
      );
      const again = await store.appendMessages("s1", [{ ...keyed, content: "other" }]);
      assert.deepEqual(again, [first[0]]);
      const elsewhere = await store.appendMessages("s2", [keyed]);
      assert.notEqual(elsewhere[0], first[0]);
      assert.partialDeepStrictEqual(await store.getSession("s1"), {
        messageCount: 3,
        toolCallCount: 2,
        lastActiveAt: NOW,
      });
      await assert.rejects(store.appendMessages("no", [user("x")]), code("SESSION_NOT_FOUND"));
    });

    test("a message comes back whole", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      const message = {
        role: "assistant",
        content: "naïve 😀 \u0000 end",
        toolCallId: null,
        toolCalls: [{ id: "c1", name: "terminal", arguments: '{"broken' }],
        toolName: null,
        timestamp: NOW + 0.25,
        tokenCount: 7,
        finishReason: "tool-calls",
        reasoning: "because",
        reasoningDetails: { provider: "p", signature: [1, "x"] },
        kind: "summary",
        turnId: "t1",
        platformMessageId: "p1",
        clientKey: "k1",
      } as const;
      const [id] = await store.appendMessages("s1", [message]);
      const page = await store.readMessages("s1", { limit: 1, order: "asc" });
      assert.deepEqual(page.messages, [{ ...message, id, sessionId: "s1", active: true }]);
    });

    test("pages go both ways", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      const all = await store.appendMessages(
        "s1",
        ["a", "b", "c", "d", "e"].map((text) => user(text)),
      );
      const cases = [
        [{ limit: 2, order: "asc" }, "ab"],
        [{ limit: 2, offset: 2, order: "asc" }, "cd"],
        [{ limit: 2, order: "desc" }, "ed"],
        [{ limit: 9, order: "desc", before: all[2] ?? 0 }, "ba"],
        [{ limit: 9, order: "asc", after: all[2] ?? 0 }, "de"],
        [{ limit: 1, offset: 1, order: "asc", after: all[0] ?? 0, before: all[4] ?? 0 }, "c"],
      ] as const;
      for (const [page, expected] of cases) {
        const found = await store.readMessages("s1", page);
        assert.equal(found.messages.map((row) => row.content).join(""), expected);
        assert.equal(found.total, 5);
      }
      await assert.rejects(
        store.readMessages("no", { limit: 1, order: "asc" }),
        code("SESSION_NOT_FOUND"),
      );
    });

    test("calls without a result are answered once, outcome unknown", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      await store.appendMessages("s1", [user("go"), call("c1", "c2", "c3"), result("c2")]);
      const history = await store.loadHistory("s1");
      assert.deepEqual(history.repairedCalls, ["c1", "c3"]);
      const unknown = history.messages.filter((row) => row.content?.includes("outcome unknown"));
      assert.deepEqual(
        unknown.map((row) => row.toolCallId),
        ["c1", "c3"],
      );
      assert.deepEqual(JSON.parse(unknown[0]?.content ?? ""), {
        error: "interrupted",
        note: "outcome unknown",
      });
      const second = await store.loadHistory("s1");
      assert.deepEqual(second.repairedCalls, []);
      assert.deepEqual(second.messages, history.messages);
      assert.equal((await store.getSession("s1"))?.messageCount, 5);
    });

    test("what was undone is kept and not sent", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      const all = await store.appendMessages("s1", [
        user("a"),
        answer("b"),
        user("c"),
        answer("d"),
      ]);
      assert.equal(await store.deactivateFrom("s1", all[2] ?? 0), 2);
      assert.equal(await store.deactivateFrom("s1", all[2] ?? 0), 0);
      const history = await store.loadHistory("s1");
      assert.deepEqual(
        history.messages.map((row) => row.content),
        ["a", "b"],
      );
      const page = await store.readMessages("s1", { limit: 9, order: "asc" });
      assert.deepEqual(
        page.messages.map((row) => row.active),
        [true, true, false, false],
      );
    });

    test("a compression ends the parent and takes lease and turn along", async (t) => {
      const store = await open(t);
      await make(store, "s1", { title: "Plan" });
      await store.updateSession("s1", { systemPrompt: "old", toolsHash: "h" });
      await store.takeLease("s1", { turnId: "t1", owner: ALIVE, now: NOW, ttlSeconds: 30 });
      await openTurn(store, "s1", "t1", ALIVE);
      const child = await store.compress({
        parentId: "s1",
        child: { id: "s2", source: "cli", title: "Plan #2", startedAt: NOW },
        messages: [{ ...user("what was said"), kind: "summary" }],
      });
      assert.partialDeepStrictEqual(child, {
        id: "s2",
        parentSessionId: "s1",
        rootId: "s1",
        title: "Plan #2",
        messageCount: 1,
        systemPrompt: null,
        toolsHash: null,
        state: "running",
      });
      assert.partialDeepStrictEqual(await store.getSession("s1"), {
        endReason: "compressed",
        endedAt: NOW,
        state: "idle",
      });
      assert.equal((await store.leaseOf("s2", NOW))?.surface, "web");
      assert.equal(await store.leaseOf("s1", NOW), null);
      assert.equal(await store.renewLease("s2", "t1", NOW + 60), true);
    });

    test("one lease per session, whoever asks", async (t) => {
      const cases = [
        ["free", null, NOW, true],
        ["held", ALIVE, NOW, false],
        ["its owner is dead", DEAD, NOW, true],
        ["ran out", ALIVE, NOW + 31, true],
      ] as const;
      for (const [what, owner, now, taken] of cases) {
        const store = await open(t);
        await make(store, "s1");
        if (owner) {
          await store.takeLease("s1", { turnId: "t1", owner, now: NOW, ttlSeconds: 30 });
        }
        const other = { ...ALIVE, surface: "tui" };
        const attempt = await store.takeLease("s1", {
          turnId: "t2",
          owner: other,
          now,
          ttlSeconds: 30,
        });
        assert.equal(attempt.taken, taken, what);
        if (!attempt.taken) assert.deepEqual(attempt.holder, ALIVE);
        assert.equal((await store.leaseOf("s1", now))?.surface, taken ? "tui" : "web", what);
        assert.equal(await store.renewLease("s1", "t1", NOW + 99), !taken, what);
      }
    });

    test("a lease is renewed and dropped by its turn only", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      const lease = { turnId: "t1", owner: ALIVE, now: NOW, ttlSeconds: 30 };
      await store.takeLease("s1", lease);
      assert.deepEqual(await store.takeLease("s1", lease), { taken: true });
      assert.equal(await store.renewLease("s1", "other", NOW + 60), false);
      assert.equal(await store.renewLease("s1", "t1", NOW + 60), true);
      await store.dropLease("s1", "other");
      assert.ok(await store.leaseOf("s1", NOW + 59));
      assert.equal(await store.leaseOf("s1", NOW + 61), null);
      await store.dropLease("s1", "t1");
      assert.equal(await store.leaseOf("s1", NOW), null);
      await assert.rejects(store.takeLease("no", lease), code("SESSION_NOT_FOUND"));
    });

    test("a turn ends with its rows and the session's state", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      await openTurn(store, "s1", "t1", ALIVE);
      assert.equal((await store.getSession("s1"))?.state, "running");
      await store.appendDraft({ turnId: "t1", sessionId: "s1", text: "half" });
      const added = await closeTurn(store, "s1", "t1", [answer("whole")]);
      assert.equal(added.length, 1);
      assert.equal((await store.getSession("s1"))?.state, "idle");
      assert.deepEqual(await store.recoverLostTurns(NOW), []);
      assert.equal((await store.getSession("s1"))?.messageCount, 1);
    });

    test("turns of dead owners are lost, and what they had shown is kept", async (t) => {
      const store = await open(t);
      for (const id of ["s1", "s2"]) await make(store, id);
      await openTurn(store, "s1", "t1", DEAD);
      await openTurn(store, "s2", "t2", ALIVE);
      await store.takeLease("s1", { turnId: "t1", owner: DEAD, now: NOW, ttlSeconds: 30 });
      for (const text of ["Hel", "lo ", "wor"]) {
        await store.appendDraft({ turnId: "t1", sessionId: "s1", text });
      }
      const lost = await store.recoverLostTurns(NOW + 1);
      assert.partialDeepStrictEqual(lost, [
        { turnId: "t1", sessionId: "s1", surface: "cli", endedAt: NOW + 1, outcome: "lost" },
      ]);
      assert.equal((await store.getSession("s1"))?.state, "interrupted");
      assert.equal((await store.getSession("s2"))?.state, "running");
      const { messages } = await store.readMessages("s1", { limit: 9, order: "asc" });
      assert.partialDeepStrictEqual(messages, [
        { role: "assistant", content: "Hello wor", finishReason: "interrupted", turnId: "t1" },
      ]);
      assert.deepEqual(await store.recoverLostTurns(NOW + 2), []);
      assert.equal((await store.getSession("s1"))?.messageCount, 1);
    });

    test("a draft goes with the answer's row or when it is withdrawn", async (t) => {
      for (const how of ["row", "clear"] as const) {
        const store = await open(t);
        await make(store, "s1");
        await openTurn(store, "s1", "t1", DEAD);
        await store.appendDraft({ turnId: "t1", sessionId: "s1", text: "shown" });
        if (how === "clear") await store.clearDraft("t1");
        else await store.appendMessages("s1", [{ ...answer("stored"), turnId: "t1" }]);
        await store.recoverLostTurns(NOW);
        const { messages } = await store.readMessages("s1", { limit: 9, order: "asc" });
        assert.deepEqual(
          messages.map((row) => row.content),
          how === "clear" ? [] : ["stored"],
        );
      }
    });

    test("search: newest first, one hit per lineage, hidden sources when asked for", async (t) => {
      const store = await open(t);
      await make(store, "a", { title: "Old" });
      await make(store, "b", { parentSessionId: "a", startedAt: NOW - 50 });
      await make(store, "c", { startedAt: NOW - 40, model: "m" });
      await make(store, "d", { source: "cron", startedAt: NOW - 30 });
      await make(store, "e", { parentSessionId: "a", startedAt: NOW - 60 });
      await store.appendMessages("a", [user("the harbour in winter")]);
      await store.appendMessages("e", [user("a harbour in spring")]);
      await store.appendMessages("b", [answer("a harbour at night")]);
      const [newest] = await store.appendMessages("c", [user("harbour lights")]);
      await store.appendMessages("d", [user("harbour watch")]);
      const found = await store.search("harbour", { limit: 10 });
      assert.equal(found.partial, false);
      assert.deepEqual(
        found.hits.map((hit) => [hit.sessionId, hit.rootId]),
        [
          ["c", "c"],
          ["b", "a"],
        ],
      );
      assert.partialDeepStrictEqual(found.hits[0], {
        title: null,
        source: "cli",
        model: "m",
        startedAt: NOW - 40,
        role: "user",
        messageId: newest,
      });
      assert.match(found.hits[0]?.snippet ?? "", />>>harbour<<< lights/);
      const searched = async (query: string, more: object): Promise<string[]> =>
        (await store.search(query, { limit: 10, ...more })).hits.map((hit) => hit.sessionId);
      assert.deepEqual(await searched("harbour", { source: "cron" }), ["d"]);
      assert.deepEqual(await searched("harbour", { all: true }), ["d", "c", "b"]);
      assert.deepEqual(await searched("harbour winter", {}), ["a"]);
      assert.deepEqual(await searched("nothing", {}), []);
      assert.deepEqual(await searched("harbour", { limit: 1 }), ["c"]);
    });

    test("an empty query is the recent list", async (t) => {
      const store = await open(t);
      for (const id of ["a", "b", "c"]) await make(store, id);
      await store.appendMessages("b", [user("one", NOW - 9)]);
      await store.appendMessages("a", [user("two", NOW - 5), answer("three", NOW)]);
      const recent = await store.recentHits(10);
      assert.deepEqual(
        recent.map((hit) => [hit.sessionId, hit.snippet]),
        [
          ["a", "three"],
          ["b", "one"],
        ],
      );
      assert.deepEqual((await store.search(" ", { limit: 10 })).hits, recent);
      assert.equal((await store.recentHits(1)).length, 1);
    });

    test("neighbours stay within the session", async (t) => {
      const store = await open(t);
      for (const id of ["s1", "s2"]) await make(store, id);
      const first = await store.appendMessages("s1", [user("a"), user("b")]);
      await store.appendMessages("s2", [user("x")]);
      await store.appendMessages("s1", [user("c"), user("d")]);
      const around = await store.neighbours(first[1] ?? 0, 1);
      assert.deepEqual(
        around.map((row) => row.content),
        ["a", "b", "c"],
      );
      assert.deepEqual(await store.neighbours(99_999, 1), []);
    });

    test("usage is summed by session, day and model", async (t) => {
      const store = await open(t);
      await make(store, "s1");
      await store.appendMessages("s1", [call("c1")]);
      const at = Date.UTC(2026, 5, 1, 23, 59) / 1000;
      const entry = { sessionId: "s1", provider: "p", model: "m", usage: USAGE, costUsd: null, at };
      await store.addUsage(entry);
      await store.addUsage({ ...entry, costUsd: 0.5 });
      await store.addUsage({ ...entry, model: "n", at: at + 120 });
      const double = { input: 20, output: 10, cacheRead: 6, cacheWrite: 4, reasoning: 2 };
      const days = await store.usageByDay(at - 86_400);
      assert.deepEqual(days, [
        { day: "2026-06-01", usage: double, calls: 2, sessions: 1, costUsd: 0.5 },
        { day: "2026-06-02", usage: USAGE, calls: 1, sessions: 1, costUsd: null },
      ]);
      const models = await store.usageByModel(at - 86_400);
      assert.partialDeepStrictEqual(
        [...models].sort((a, b) => a.model.localeCompare(b.model)),
        [
          {
            provider: "p",
            model: "m",
            usage: double,
            calls: 2,
            sessions: 1,
            toolCalls: 1,
            costUsd: 0.5,
          },
          { provider: "p", model: "n", usage: USAGE, calls: 1, toolCalls: 1, costUsd: null },
        ],
      );
      const session = await store.getSession("s1");
      assert.deepEqual(
        [session?.usage.input, session?.apiCallCount, session?.costUsd],
        [30, 3, 0.5],
      );
    });

    test("stats, meta, ping and the change token", async (t) => {
      const store = await open(t);
      const before = await store.changeToken();
      assert.equal(await store.changeToken(), before);
      await make(store, "s1");
      await make(store, "s2", { source: "tui" });
      assert.notEqual(await store.changeToken(), before);
      await store.appendMessages("s1", [user("x")]);
      assert.partialDeepStrictEqual(await store.stats(), {
        sessions: 2,
        messages: 1,
        bySource: { cli: 1, tui: 1 },
      });
      assert.equal(await store.getMeta("k"), null);
      await store.setMeta("k", "1");
      await store.setMeta("k", "2");
      assert.equal(await store.getMeta("k"), "2");
      assert.deepEqual(await store.ping(), { ok: true, code: null, total: 2 });
      assert.deepEqual(await store.check(), []);
    });

    test("an event of the outside world is noted once, until it is forgotten", async (t) => {
      const store = await open(t);
      const event = { platform: "webhook", eventId: "d1", event: "{}", state: "done" } as const;
      const at = (now: number) => ({ ...event, now, forgetBefore: now - 100 });
      assert.equal(await store.recordInbound(at(1000)), true);
      assert.equal(await store.recordInbound(at(1050)), false);
      assert.equal(await store.recordInbound({ ...at(1050), platform: "telegram" }), true);
      assert.equal(await store.recordInbound({ ...at(1050), eventId: "d2" }), true);
      assert.equal(await store.recordInbound(at(1101)), true);
      await store.forgetInbound("webhook", "d1");
      assert.equal(await store.recordInbound(at(1102)), true);
      const queued = { ...at(2000), eventId: "q", state: "queued" } as const;
      assert.equal(await store.recordInbound(queued), true);
      assert.equal(await store.recordInbound({ ...queued, now: 9000, forgetBefore: 8900 }), false);
    });

    test("prune takes old sessions, never pinned or leased ones", async (t) => {
      const store = await open(t);
      const old = { startedAt: NOW - 10_000 };
      for (const id of ["old", "pinned", "leased", "used"]) await make(store, id, old);
      await make(store, "cron", { ...old, source: "cron" });
      await make(store, "new");
      await store.updateSession("pinned", { pinned: true });
      await store.takeLease("leased", { turnId: "t", owner: ALIVE, now: NOW, ttlSeconds: 30 });
      await store.appendMessages("used", [user("x")]);
      const options = { olderThan: NOW - 5000, dryRun: true };
      assert.deepEqual(ids(await store.prune(options)).sort(), ["cron", "old"]);
      assert.equal((await store.stats()).sessions, 6);
      assert.deepEqual(ids(await store.prune({ ...options, source: "cron", dryRun: false })), [
        "cron",
      ]);
      assert.deepEqual(ids(await store.prune({ ...options, dryRun: false })), ["old"]);
      assert.equal((await store.stats()).sessions, 4);
    });

    test("empty sessions that nobody holds are deleted", async (t) => {
      const store = await open(t);
      for (const id of ["empty", "leased", "used"]) await make(store, id);
      await store.takeLease("leased", { turnId: "t", owner: ALIVE, now: NOW, ttlSeconds: 30 });
      await store.appendMessages("used", [user("x")]);
      assert.equal(await store.deleteEmpty({ dryRun: true }), 1);
      assert.equal(await store.deleteEmpty({ dryRun: false }), 1);
      assert.equal(await store.getSession("empty"), null);
      assert.equal((await store.stats()).sessions, 2);
    });

    test("export and import: the same again is skipped, a clash is renamed", async (t) => {
      const source = await open(t);
      await make(source, "s1", { title: "Plan", modelConfig: { provider: "p" } });
      await source.appendMessages("s1", [user("go"), call("c1"), result("c1"), answer("done")]);
      await make(source, "s2", { startedAt: NOW });
      const lines = await collect(source.exportLines([]));
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as { type: string }).type),
        ["session", "message", "message", "message", "message", "session"],
      );
      assert.equal((await collect(source.exportLines(["s2"]))).length, 1);
      const target = await open(t);
      const done = { imported: 2, skipped: 0, renamed: [] };
      assert.deepEqual(await target.importLines(linesOf(lines)), done);
      const again = { imported: 0, skipped: 2, renamed: [] };
      assert.deepEqual(await target.importLines(linesOf(lines)), again);
      const page = { limit: 9, order: "asc" } as const;
      const texts = async (store: SessionStore, id: string): Promise<unknown> =>
        (await store.readMessages(id, page)).messages.map((row) => ({ ...row, id: 0 }));
      assert.deepEqual(await texts(target, "s1"), await texts(source, "s1"));
      assert.partialDeepStrictEqual(await target.getSession("s1"), {
        title: "Plan",
        messageCount: 4,
        toolCallCount: 1,
        modelConfig: { provider: "p" },
        lastActiveAt: NOW,
      });
      await target.appendMessages("s1", [user("more")]);
      const clash = await target.importLines(linesOf(lines));
      assert.deepEqual([clash.imported, clash.skipped, clash.renamed[0]?.from], [1, 1, "s1"]);
      const renamed = clash.renamed[0]?.to ?? "";
      assert.equal((await target.getSession(renamed))?.messageCount, 4);
      assert.equal((await target.getSession("s1"))?.messageCount, 5);
    });

    test("a bad line is named and nothing of its session comes in", async (t) => {
      const source = await open(t);
      await make(source, "s1");
      await source.appendMessages("s1", [user("go")]);
      await make(source, "s2", { startedAt: NOW });
      const good = await collect(source.exportLines([]));
      for (const bad of ["{", "[]", '{"type":"other"}', '{"type":"message"}']) {
        const target = await open(t);
        await assert.rejects(target.importLines(linesOf([...good, bad])), (error) => {
          assert.ok(isHermesError(error, "IMPORT_INVALID"));
          assert.match(error.message, /line 4/);
          return true;
        });
        assert.deepEqual(ids((await listAll(target)).sessions), ["s1"], bad);
      }
    });
  });
}

function listAll(store: SessionStore): ReturnType<SessionStore["listSessions"]> {
  return store.listSessions({ all: true, limit: 100, offset: 0 });
}

function openTurn(
  store: SessionStore,
  sessionId: string,
  turnId: string,
  owner: LeaseOwner,
): Promise<void> {
  const { surface } = owner;
  return store.openTurn({
    turnId,
    sessionId,
    surface,
    provider: "p",
    model: "m",
    startedAt: NOW,
    owner,
  });
}

function closeTurn(
  store: SessionStore,
  sessionId: string,
  turnId: string,
  messages: readonly NewMessage[],
): Promise<readonly number[]> {
  const outcome = "done";
  return store.closeTurn({
    turnId,
    sessionId,
    outcome,
    errorKind: null,
    endedAt: NOW,
    messages,
    state: "idle",
  });
}
