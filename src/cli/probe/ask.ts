// One GET of a probe. A redirect is an answer like any other, no cookie is kept, no answer and no failure is thrown.
import {
  request as httpRequest,
  type Agent,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { request as httpsRequest } from "node:https";
import type { Clock } from "#base/clock.ts";
import { errnoOf } from "#base/errors.ts";
import { usageError } from "../command-line.ts";
import { TIMEOUT, TOO_LONG, type Outcome } from "./outcome.ts";

export interface Question {
  readonly url: URL;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** For all of it: name, connection, TLS, headers and body. */
  readonly timeoutMs: number;
  /** What is longer is cut. */
  readonly limitBytes: number;
  /** Whether the body of an answer with this status is of interest. */
  readonly wantsBody: (status: number) => boolean;
}

export interface AskDeps {
  readonly clock: Clock;
  readonly agentFor: (url: URL) => Agent;
}

/** A login wall in front may set large cookies; Node's own limit is 16 KiB. */
const MOST_HEADER_BYTES = 64 * 1024;

/** Throws only USAGE (64): a Host header that the proxy of this address cannot carry (RFC 9112 §3.2.2). */
export async function ask(question: Question, { clock, agentFor }: AskDeps): Promise<Outcome> {
  const limit = new AbortController();
  const nameOf = (error: unknown): string =>
    limit.signal.aborted ? TIMEOUT : (errnoOf(error) ?? "UNKNOWN");
  const outgoing = openRequest(question, agentFor(question.url));
  const timer = clock.after(question.timeoutMs, () => limit.abort());
  // A proxy that hangs leaves a request without a socket, which no `destroy` ends: `answerTo` does not wait for it.
  limit.signal.addEventListener("abort", () => outgoing.destroy());
  try {
    const incoming = await answerTo(outgoing, limit.signal);
    const { body, cut } = await bodyOf(incoming, question, nameOf);
    outgoing.destroy();
    const { statusCode = 0, headers } = incoming;
    const location = headers.location ?? null;
    return { kind: "answered", status: statusCode, location, body, cut };
  } catch (error) {
    return { kind: "failed", reason: nameOf(error) };
  } finally {
    timer.cancel();
  }
}

function openRequest({ url, headers }: Question, agent: Agent): ClientRequest {
  const start = url.protocol === "https:" ? httpsRequest : httpRequest;
  try {
    return start(url, { agent, headers, maxHeaderSize: MOST_HEADER_BYTES });
  } catch (error) {
    if (errnoOf(error) !== "ERR_INVALID_ARG_VALUE") throw error;
    throw usageError(
      `--header: HTTP_PROXY would not carry this Host to ${url.host}.`,
      `Leave the header out, or name ${url.hostname} in NO_PROXY.`,
    );
  }
}

function answerTo(outgoing: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error(TIMEOUT)));
    // Stays attached: what breaks after the answer must not end the process.
    outgoing.on("error", reject);
    outgoing.on("response", resolve);
    outgoing.on("upgrade", (incoming, socket) => {
      socket.destroy();
      resolve(incoming);
    });
    outgoing.end();
  });
}

interface Body {
  readonly body: string;
  readonly cut: string | null;
}

async function bodyOf(
  incoming: IncomingMessage,
  { wantsBody, limitBytes }: Question,
  nameOf: (error: unknown) => string,
): Promise<Body> {
  incoming.on("error", () => undefined);
  const status = incoming.statusCode ?? 0;
  // What follows a 101 is another protocol.
  if (status === 101 || !wantsBody(status)) return { body: "", cut: null };
  const parts: Buffer[] = [];
  let room = limitBytes;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      parts.push(chunk.subarray(0, room));
      room -= chunk.byteLength;
      if (room < 0) return { body: textOf(parts), cut: TOO_LONG };
    }
    return { body: textOf(parts), cut: null };
  } catch (error) {
    return { body: textOf(parts), cut: nameOf(error) };
  }
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString("utf8");
}
