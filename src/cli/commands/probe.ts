// `hermes probe`: is the agent behind this address alive? (dashboard.md §13). Reads neither home nor configuration.
import { systemClock } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";
import type { Io } from "../io.ts";
import { ask, type AskDeps } from "../probe/ask.ts";
import { exitOf, judge, needsBody, type ProbeResult } from "../probe/judge.ts";
import { parseOrder, type ProbeOrder, type Target } from "../probe/order.ts";
import { TOO_LONG } from "../probe/outcome.ts";
import { runBounded } from "../probe/pool.ts";
import { openRoutes } from "../probe/routes.ts";
import { tableHead, tableRow, tally, urlWidth } from "../probe/table.ts";

type Order<Kind extends ProbeOrder["kind"]> = Extract<ProbeOrder, { kind: Kind }>;

const MOST_STATUS_BYTES = 1024 * 1024;
const MOST_RAW_BYTES = 16 * 1024 * 1024;

export async function run({ launch, line, io }: Context): Promise<ExitCode> {
  const order = parseOrder(line);
  if (order.kind === "self") return (await import("../probe/self.ts")).probeSelf({ launch, io });
  const urls = order.kind === "raw" ? [order.url] : order.targets.map(({ url }) => url);
  const deps = { clock: systemClock, agentFor: openRoutes(urls, launch.env) };
  return order.kind === "raw" ? probeRaw(order, deps, io) : probeAgents(order, deps, io);
}

async function probeAgents(order: Order<"agents">, deps: AskDeps, io: Io): Promise<ExitCode> {
  const { targets, concurrency, expect } = order;
  const pending = runBounded(targets, concurrency, (target) => probeAgent(target, order, deps));
  const results = io.json ? await Promise.all(pending) : await showAll(pending, targets, io);
  if (io.json) io.object({ results });
  return exitOf(results, expect);
}

async function probeAgent(
  { given, url }: Target,
  { headers, timeoutMs }: Order<"agents">,
  deps: AskDeps,
): Promise<ProbeResult> {
  const started = deps.clock.monotonicMs();
  const question = { url, headers, timeoutMs, limitBytes: MOST_STATUS_BYTES, wantsBody: needsBody };
  const { reason, ...verdict } = judge(await ask(question, deps), url);
  const ms = Math.round(deps.clock.monotonicMs() - started);
  return { url: given, ...verdict, ms, reason };
}

/** Each row as soon as those before it are there. */
async function showAll(
  pending: readonly Promise<ProbeResult>[],
  targets: readonly Target[],
  io: Io,
): Promise<readonly ProbeResult[]> {
  const width = urlWidth(targets.map(({ given }) => given));
  const results: ProbeResult[] = [];
  io.line(tableHead(width));
  for (const next of pending) {
    const result = await next;
    results.push(result);
    io.line(tableRow(result, width, io.paint));
  }
  if (results.length > 1) io.note(tally(results));
  return results;
}

async function probeRaw(order: Order<"raw">, deps: AskDeps, io: Io): Promise<ExitCode> {
  const { url, headers, timeoutMs } = order;
  const limitBytes = MOST_RAW_BYTES;
  const outcome = await ask({ url, headers, timeoutMs, limitBytes, wantsBody: () => true }, deps);
  if (outcome.kind === "failed") throw noAnswer(url, outcome.reason);
  const { status, body, cut } = outcome;
  if (cut === TOO_LONG) io.note(`hermes: the body is longer than ${limitBytes} bytes; it is cut.`);
  else if (cut !== null) throw noAnswer(url, cut);
  if (io.json) io.object({ status, body });
  else io.line(JSON.stringify({ status, body }));
  return EXIT.ok;
}

/** A query may hold a token: it is not in the message. */
function noAnswer(url: URL, reason: string): HermesError {
  const message = `No answer from ${url.origin}${url.pathname}: ${reason}.`;
  return new HermesError("NO_ANSWER", message, { exit: EXIT.unavailable });
}
