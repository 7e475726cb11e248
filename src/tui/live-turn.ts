// Events of a turn folded into the view: what is done goes to the transcript, what still changes stays live.
import { cutEnd } from "#base/text.ts";
import type { AgentEvent, EventOf, TurnSnapshot } from "#protocol/events.ts";
import { oneLine, shown } from "./shown-text.ts";
import { todosAfter } from "./todos.ts";
import {
  ask,
  CLOSED_BOX,
  forget,
  IDLE,
  print,
  type Call,
  type Item,
  type Live,
  type View,
} from "./view.ts";

const OUTPUT_KEPT = 16_384;
const ABOUT_LIMIT = 200;
/** Lines of an answer that stay live; what is above them is printed, so that the scroll-back has it while it streams. */
const LIVE_LINES = 12;
/** A line without end is printed in pieces of this size. */
const LONG_LINE = 8192;

export function seeEvent(view: View, event: AgentEvent, filtered: string, nowMs: number): View {
  const seen = filtered === "" ? view : addText(view, filtered);
  switch (event.type) {
    case "snapshot":
      return seeSnapshot(seen, event, nowMs);
    case "turn-start":
      return live(print(seen, { kind: "said", text: shown(event.text) }), {
        ...IDLE,
        queue: seen.live.queue,
        isRunning: true,
        state: "preparing",
        startedAtMs: nowMs,
      });
    case "status":
      return live(seen, { state: event.state, detail: oneLine(event.detail ?? "", 60) });
    case "model-start":
      return live(seen, { isRunning: true, isPartPrinted: false });
    case "model-end": {
      const used = event.usage.input + event.usage.output;
      return { ...printText(seen), status: { ...seen.status, used } };
    }
    case "model-retry":
      return seeRetry(seen, event);
    case "text-delta":
      return seen.live.isRunning ? seen : live(seen, { isRunning: true });
    case "reasoning-delta":
      return live(seen, {
        reasoning: cutEnd(seen.live.reasoning + shown(event.text), OUTPUT_KEPT),
      });
    case "tool-call":
      return seeCall(printText(seen), event);
    case "tool-start":
      return call(seen, event.callId, (it) => ({ ...it, state: "running", startedAtMs: nowMs }));
    case "tool-output":
      return call(seen, event.callId, (it) => ({
        ...it,
        output: cutEnd(it.output + shown(event.text), OUTPUT_KEPT),
      }));
    case "tool-end":
      return seeToolEnd(seen, event);
    case "approval-request":
      return ask(seen, { ...event, type: "approval" });
    case "clarify-request":
      return ask(seen, { ...event, type: "clarify" });
    case "approval-end":
      return print(forget(seen, event.requestId), {
        kind: "line",
        tone: "dim",
        text: `${event.choice === "deny" ? "✗ denied" : `✓ allowed (${event.choice})`} by ${oneLine(event.by, 60)}`,
      });
    case "clarify-end":
      return seeAnswer(forget(seen, event.requestId), event);
    case "compress-start":
      return print(seen, { kind: "line", tone: "dim", text: "… summarising the conversation" });
    case "compress-end":
      return event.ok
        ? print(seen, {
            kind: "line",
            tone: "dim",
            text: `context: ${event.before} → ${event.after} tokens`,
          })
        : seen;
    case "notice":
      return print(seen, {
        kind: "line",
        tone: event.level === "error" ? "red" : "yellow",
        text: `! ${shown(event.text)}`,
      });
    case "queue":
      return live(seen, { queue: event.items });
    case "process-end":
      return print(seen, {
        kind: "line",
        tone: "dim",
        text: `background process ${oneLine(event.processId, 60)} ended with ${event.exitCode ?? "a signal"}`,
      });
    case "turn-end":
      return seeTurnEnd(printText(seen), event);
    case "message-saved":
    case "session-change":
    case "title":
      return seen;
  }
}

function live(view: View, change: Partial<Live>): View {
  return { ...view, live: { ...view.live, ...change } };
}

function call(view: View, callId: string, change: (call: Call) => Call): View {
  const calls = view.live.calls.map((it) => (it.callId === callId ? change(it) : it));
  return live(view, { calls });
}

/** Adds to the live answer; whole lines far above its end go to the transcript. */
function addText(view: View, text: string): View {
  const whole = view.live.text + text;
  const lines = whole.split("\n");
  const last = lines.at(-1) ?? "";
  if (last.length > LONG_LINE) return printText(live(view, { text: whole }));
  if (lines.length <= 2 * LIVE_LINES) return live(view, { text: whole });
  const done = lines.slice(0, -LIVE_LINES).join("\n");
  const rest = lines.slice(-LIVE_LINES).join("\n");
  return live(print(view, { kind: "answer", text: done }), { text: rest, isPartPrinted: true });
}

function printText(view: View): View {
  const { text, reasoning } = view.live;
  const items: Item[] = [];
  if (view.showReasoning && reasoning.trim() !== "")
    items.push({ kind: "reasoning", text: reasoning.trim() });
  const shownText = text.replace(/\n+$/, "");
  if (shownText !== "") items.push({ kind: "answer", text: shownText });
  if (items.length === 0 && text === "" && reasoning === "") return view;
  const isPartPrinted = view.live.isPartPrinted || shownText !== "";
  return live(print(view, ...items), { text: "", reasoning: "", isPartPrinted });
}

function seeSnapshot(view: View, event: EventOf<"snapshot">, nowMs: number): View {
  const fresh: View = { ...view, live: IDLE, questions: [], box: CLOSED_BOX };
  const base = live(fresh, { queue: event.queue, state: event.state });
  return event.turn === null ? base : seeTurn(base, event.turn, nowMs);
}

/** A turn that runs already, perhaps for another surface. */
function seeTurn(view: View, turn: TurnSnapshot, nowMs: number): View {
  const calls = turn.calls.map((it): Call => ({
    ...waitingCall(it.callId, it.name, it.input),
    state: it.state,
    startedAtMs: nowMs,
    summary: shown(it.summary ?? ""),
    output: shown(it.output),
  }));
  const text = shown(turn.text);
  const running = live(view, { isRunning: true, startedAtMs: nowMs, text, calls });
  return turn.pending.reduce(ask, running);
}

function seeRetry(view: View, event: EventOf<"model-retry">): View {
  const wait = event.waitMs > 0 ? `; again in ${Math.ceil(event.waitMs / 1000)} s` : "";
  const next = event.fallback
    ? `; going on with ${event.fallback.provider}:${event.fallback.model}`
    : wait;
  const isWithdrawn = event.discardText && view.live.isPartPrinted;
  const text = `! ${event.message}${next}${isWithdrawn ? " (the text above is withdrawn)" : ""}`;
  const kept = event.discardText ? live(view, { text: "", reasoning: "" }) : printText(view);
  return print(kept, { kind: "line", tone: "yellow", text: shown(text) });
}

function seeCall(view: View, event: EventOf<"tool-call">): View {
  const calls = [...view.live.calls, waitingCall(event.callId, event.name, event.input)];
  const todos = event.name === "todo" ? todosAfter(view.live.todos, event.input) : view.live.todos;
  return live(view, { calls, todos, isRunning: true });
}

function waitingCall(callId: string, name: string, input: unknown): Call {
  return {
    callId,
    name: oneLine(name, 80),
    about: aboutOf(input),
    state: "waiting",
    startedAtMs: 0,
    durationMs: null,
    summary: "",
    output: "",
  };
}

function seeToolEnd(view: View, event: EventOf<"tool-end">): View {
  const found = view.live.calls.find((it) => it.callId === event.callId);
  if (!found) return view;
  const done: Call = {
    ...found,
    state: event.ok ? "ok" : "failed",
    durationMs: event.durationMs,
    summary: oneLine(event.summary, ABOUT_LIMIT),
  };
  const calls = view.live.calls.filter((it) => it !== found);
  const rest = live(view, { calls, lastTool: done.name });
  const { toolProgress } = view;
  const isRepeated = toolProgress === "new" && event.ok && view.live.lastTool === done.name;
  if (toolProgress === "off" || isRepeated) return rest;
  const unfolded = view.isUnfolded || toolProgress === "verbose";
  return print(rest, { kind: "tool", call: done, unfolded });
}

function seeAnswer(view: View, event: EventOf<"clarify-end">): View {
  const text = event.answer === null ? `✗ no answer (${event.reason})` : `› ${shown(event.answer)}`;
  return print(view, { kind: "line", tone: "dim", text });
}

function seeTurnEnd(view: View, event: EventOf<"turn-end">): View {
  const left = view.live.calls
    .filter(() => view.toolProgress !== "off")
    .map((it): Item => ({ kind: "tool", call: { ...it, state: "failed" }, unfolded: false }));
  const words = endOf(event);
  const ended = print(view, ...left, ...(words === null ? [] : [words]));
  return {
    ...ended,
    live: { ...IDLE, queue: view.live.queue },
    questions: [],
    box: CLOSED_BOX,
  };
}

function endOf(event: EventOf<"turn-end">): Item | null {
  if (event.outcome === "interrupted")
    return { kind: "line", tone: "dim", text: "[interrupted; what was shown is kept]" };
  if (event.outcome === "budget")
    return { kind: "line", tone: "yellow", text: "[the budget of this turn is used up]" };
  return event.error
    ? { kind: "line", tone: "red", text: `✗ ${shown(event.error.message)}` }
    : null;
}

/** The command, path or query of a call, else its first field. */
function aboutOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = Object.entries(input).filter(([, value]) => value !== undefined);
  const named = fields.find(([name]) => name === "command" || name === "path" || name === "query");
  const value: unknown = (named ?? fields[0])?.[1];
  if (value === undefined) return "";
  return oneLine(typeof value === "string" ? value : JSON.stringify(value), ABOUT_LIMIT);
}
