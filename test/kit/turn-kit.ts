// Everything that one turn needs, as fakes: a store in memory, a scripted model, scripted tools, a clock moved by hand.
//
//   const kit = await turnKit({ steps: [callStep("echo", { text: "a" }), textStep("done")], tools: [echo] });
//   const end = await kit.run("hello");
//   assert.equal(end.text, "done");
import assert from "node:assert/strict";
import { silentLog } from "#base/log.ts";
import { runTurn } from "#agent/loop.ts";
import type { ModelMessage, ModelRequest, ModelTarget } from "#agent/ports/model-client.ts";
import type { Redactor, StreamRedactor } from "#agent/ports/redactor.ts";
import type { Tool } from "#agent/ports/tool.ts";
import type {
  SessionMemory,
  TurnDeps,
  TurnEnd,
  TurnInput,
  TurnSettings,
} from "#agent/ports/turn.ts";
import type { AgentEventBody, ApprovalChoice, EventType } from "#protocol/events.ts";
import type { StoredMessage } from "#protocol/messages.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeToolBox } from "./fake-tools.ts";
import { MemoryStore } from "./memory-store.ts";
import { ScriptedModel, scriptedTarget, type Step } from "./scripted-model.ts";

export const SESSION = "20260115_120000_abc123";

export const SETTINGS: TurnSettings = {
  maxTurns: 90,
  runBudgetMs: 0,
  apiMaxRetries: 3,
  maxParallelTools: 8,
  effort: "",
  approvals: { mode: "manual", timeoutMs: 300_000, unattended: "deny" },
  clarifyTimeoutMs: 3_600_000,
  guardrails: { enabled: true, hardStop: false },
  compression: {
    enabled: true,
    threshold: 0.5,
    targetRatio: 0.2,
    protectFirst: 3,
    protectLast: 20,
  },
};

export interface TurnKitOptions {
  readonly steps?: readonly Step[];
  readonly tools?: readonly Tool[];
  readonly settings?: Partial<TurnSettings>;
  readonly target?: Partial<ModelTarget>;
  readonly fallbacks?: readonly ModelTarget[];
  readonly secrets?: readonly string[];
  readonly deps?: Partial<TurnDeps>;
  readonly title?: string;
}

export type EventBody<T extends EventType> = AgentEventBody & { readonly type: T };

export interface TurnKit {
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly model: ScriptedModel;
  readonly box: FakeToolBox;
  readonly memory: SessionMemory;
  readonly deps: TurnDeps;
  readonly events: AgentEventBody[];
  readonly steer: string[];
  /** Windows remembered from errors. */
  readonly remembered: number[];
  /** Called with each event right after it was emitted. */
  onEvent: (event: AgentEventBody) => void;
  /** Starts a turn in the session's newest descendant. */
  run(userText: string | null, input?: Partial<TurnInput>): Promise<TurnEnd>;
  answer(requestId: string, choice: ApprovalChoice, by?: string): void;
  clarify(requestId: string, answer: string): void;
  types(): EventType[];
  eventsOf<T extends EventType>(type: T): EventBody<T>[];
  /** Rows that the model sees, oldest first. */
  rows(): Promise<readonly StoredMessage[]>;
}

export async function turnKit(options: TurnKitOptions = {}): Promise<TurnKit> {
  const clock = new FakeClock();
  const store = new MemoryStore({ isAlive: () => true, now: () => clock.now() / 1000 });
  const title = options.title ?? null;
  await store.createSession({ id: SESSION, source: "cli", startedAt: clock.now() / 1000, title });
  const model = new ScriptedModel(options.steps ?? [], clock);
  const box = new FakeToolBox(options.tools ?? []);
  const target = scriptedTarget(model, options.target);
  const desk = new Map<string, (value: never) => void>();
  const events: AgentEventBody[] = [];
  const steer: string[] = [];
  const remembered: number[] = [];
  let ids = 0;
  let sessions = 0;
  let turns = 0;
  const memory: SessionMemory = {
    cwd: "/project",
    allowedKeys: new Set(),
    lastPromptTokens: 0,
    lastPromptMessages: 0,
    compressRetryAtMs: 0,
    compressFailures: 0,
  };
  const wait = <T>(id: string): Promise<T> =>
    new Promise<T>((resolve) => {
      desk.set(id, resolve);
    });
  const deps: TurnDeps = {
    store,
    tools: box,
    clock,
    redactor: fakeRedactor(options.secrets ?? []),
    log: silentLog,
    settings: { ...SETTINGS, ...options.settings },
    memory,
    makeId: (prefix) => `${prefix}_${++ids}`,
    makeSessionId: () => `20260115_120000_child${++sessions}`,
    target: async () => target,
    fallback: async (index) => options.fallbacks?.[index] ?? null,
    auxiliary: async () => target,
    rememberWindow: async (_target, tokens) => void remembered.push(tokens),
    systemPrompt: async () => `system prompt ${sessions}`,
    emit: (event) => {
      events.push(event);
      kit.onEvent(event);
    },
    approval: wait,
    clarification: wait,
    takeSteer: () => steer.splice(0),
    cost: () => 0.01,
    ...options.deps,
  };
  const kit: TurnKit = {
    clock,
    store,
    model,
    box,
    memory,
    deps,
    events,
    steer,
    remembered,
    onEvent: () => undefined,
    run: async (userText, input = {}) => {
      const { session } = await store.newestDescendant(SESSION);
      return runTurn(
        {
          sessionId: session.id,
          turnId: `turn_${++turns}`,
          userText,
          clientKey: null,
          surface: "cli",
          answerable: true,
          yolo: false,
          signal: new AbortController().signal,
          owner: { pid: 1, startTime: "1", host: "here" },
          ...input,
        },
        deps,
      );
    },
    answer: (requestId, choice, by = "cli") =>
      desk.get(requestId)?.({ choice, by } as unknown as never),
    clarify: (requestId, answer) =>
      desk.get(requestId)?.({ answer, by: "cli" } as unknown as never),
    types: () => events.map((event) => event.type),
    eventsOf: (type) => events.filter((event) => event.type === type) as EventBody<typeof type>[],
    rows: async () => {
      const { session } = await store.newestDescendant(SESSION);
      return (await store.loadHistory(session.id)).messages;
    },
  };
  return kit;
}

/** Replaces each secret by `[redacted]`; a stream holds back a tail that may begin one. */
export function fakeRedactor(secrets: readonly string[]): Redactor {
  const text = (value: string): string =>
    secrets.reduce((sum, secret) => sum.replaceAll(secret, "[redacted]"), value);
  return {
    text,
    value: (value) => JSON.parse(text(JSON.stringify(value) ?? "null")) as typeof value,
    stream: () => fakeStream(text, secrets),
  };
}

function fakeStream(text: (value: string) => string, secrets: readonly string[]): StreamRedactor {
  let held = "";
  return {
    push: (chunk) => {
      const whole = text(held + chunk);
      const keep = heldLength(whole, secrets);
      held = whole.slice(whole.length - keep);
      return whole.slice(0, whole.length - keep);
    },
    flush: () => {
      const rest = held;
      held = "";
      return rest;
    },
  };
}

function heldLength(text: string, secrets: readonly string[]): number {
  for (let length = text.length; length > 0; length--) {
    const tail = text.slice(text.length - length);
    if (secrets.some((secret) => secret !== tail && secret.startsWith(tail))) return length;
  }
  return 0;
}

/** I1–I3 over the requests of one session row, in the order in which they were made. */
export function assertInvariants(requests: readonly ModelRequest[]): void {
  for (const [index, request] of requests.entries()) {
    assertRoles(request.messages);
    assertResults(request.messages);
    const before = requests[index - 1];
    if (!before) continue;
    assert.equal(request.system, before.system, "I1: the system prompt changed");
    assert.deepEqual(request.tools, before.tools, "I1: the tools changed");
    assertPrefix(before.messages, request.messages);
  }
}

/** A user text that got no answer is continued by the next one (I2); everything before it is byte-equal. */
function assertPrefix(before: readonly ModelMessage[], after: readonly ModelMessage[]): void {
  const last = before.length - 1;
  assert.deepEqual(after.slice(0, last), before.slice(0, last), "I1: the prefix changed");
  const [was, is] = [before[last], after[last]];
  if (was?.role === "user" && is?.role === "user") {
    assert.ok(is.text === was.text || is.text.startsWith(`${was.text}\n\n`), "I1: a text changed");
  } else assert.deepEqual(is, was, "I1: the last message changed");
}

function assertRoles(messages: readonly ModelMessage[]): void {
  assert.equal(messages[0]?.role, "user", "I2: the user speaks first");
  for (const [index, message] of messages.entries()) {
    const next = messages[index + 1];
    if (message.role !== "tool") assert.notEqual(next?.role, message.role, "I2: roles alternate");
    if (message.role === "tool") assert.ok(next?.role !== undefined || index > 0);
    if (message.role === "assistant") {
      assert.ok(message.text !== "" || message.toolCalls.length > 0, "I2: an empty answer");
    }
  }
}

function assertResults(messages: readonly ModelMessage[]): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const results = messages.slice(index + 1, index + 1 + message.toolCalls.length);
    assert.deepEqual(
      results.map((result) => (result.role === "tool" ? result.callId : result.role)),
      message.toolCalls.map((call) => call.id),
      "I3: one result per call, in call order",
    );
    const after = messages[index + 1 + message.toolCalls.length];
    assert.notEqual(after?.role, "tool", "I3: a result without a call");
  }
}
