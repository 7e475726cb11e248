// A scripted model server on loopback: one script answers the OpenAI and the Anthropic wire (agent.md §12.1).
//
//   const server = await startModelServer(t, [
//     { reply: answer("Let me look.", call("terminal", { command: "date" }, { split: 3 })) },
//     { reply: rateLimited(2) },
//     { reply: text("It is ", "Thursday.") },
//     { when: { systemIncludes: "title" }, times: Infinity, reply: text("A title") },
//   ]);
//   settings: model.base_url = server.baseUrl        (OpenAI wire, provider `custom`)
//         or: providers.anthropic.base_url = server.baseUrl, providers.anthropic.key_env = "ANTHROPIC_API_KEY"
//   … run the thing …
//   assert.equal(server.requests[0]?.lastUserText, "what day is it?");
//   server.assertDone();        // every step was used
//   server.assertInvariants();  // I1–I3 over what was sent
//
// A step is used once (`times`), the first fitting one in order. A request that no step fits gets 500 and fails the test.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { cut, delay, readBody, sendPiece, sendWhole, wireOfPath } from "./model-http.ts";
import type { Answer, Reply } from "./model-reply.ts";
import {
  assertRequestInvariants,
  describeRequest,
  type RecordedRequest,
} from "./model-requests.ts";
import { shapeOf, type ServerShapes } from "./model-shapes.ts";
import { renderAnswer, type Step, type Wire } from "./model-wires.ts";

/** All that is given must hold. */
export interface WhenSpec {
  readonly wire?: Wire;
  readonly model?: string;
  readonly lastUserIncludes?: string;
  readonly systemIncludes?: string;
  /** The request offers tools. */
  readonly tools?: boolean;
}

export interface ScriptStep {
  readonly when?: WhenSpec | ((request: RecordedRequest) => boolean);
  readonly reply: Reply | ((request: RecordedRequest) => Reply);
  /** How often it may be used: 1 by default, Infinity for always. */
  readonly times?: number;
}

/** Anything that runs a callback when the test ends; node:test's context fits. */
export interface TestEnd {
  after(run: () => void | Promise<void>): void;
}

/** A request for a list of models or a server's own API. */
export interface OtherRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

const LOOPBACK = "127.0.0.1";

/** Listens on a free port and closes when the test ends; then throws if a request had no step. */
export async function startModelServer(
  t: TestEnd,
  script: readonly ScriptStep[] = [],
  shapes: ServerShapes = {},
): Promise<ModelServer> {
  const server = new ModelServer(script, shapes);
  await server.listen();
  t.after(async () => {
    await server.close();
    server.assertNothingUnexpected();
  });
  return server;
}

export class ModelServer {
  /** Chat requests of both wires, in order of arrival. */
  readonly requests: RecordedRequest[] = [];
  readonly otherRequests: OtherRequest[] = [];
  readonly #steps: { readonly step: ScriptStep; left: number }[];
  #shapes: ServerShapes;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #released = new Set<string>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #unexpected: string[] = [];

  constructor(script: readonly ScriptStep[], shapes: ServerShapes) {
    this.#steps = script.map((step) => ({ step, left: step.times ?? 1 }));
    this.#shapes = shapes;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        this.#unexpected.push(String(error));
        response.destroy();
      });
    });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, LOOPBACK);
    await once(this.#server, "listening");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `http://127.0.0.1:PORT`. */
  get root(): string {
    return `http://${LOOPBACK}:${this.port}`;
  }

  /** Root of both wires: `http://127.0.0.1:PORT/v1`. */
  get baseUrl(): string {
    return `${this.root}/v1`;
  }

  /** Adds steps at the end of the script. */
  add(...steps: readonly ScriptStep[]): void {
    this.#steps.push(...steps.map((step) => ({ step, left: step.times ?? 1 })));
  }

  /** Changes what the lists and local APIs answer. */
  setShapes(shapes: ServerShapes): void {
    this.#shapes = shapes;
  }

  /** Lets answers go on that wait at `{ hold: name }`, now and later. */
  release(name: string): void {
    this.#released.add(name);
    for (const run of this.#waiting.get(name) ?? []) run();
    this.#waiting.delete(name);
  }

  /** Fails when a step with a finite count was not used up. */
  assertDone(): void {
    this.assertNothingUnexpected();
    const open = this.#steps.filter((entry) => entry.left > 0 && entry.step.times !== Infinity);
    assert.equal(
      open.length,
      0,
      `${open.length} steps of the script were not used: ${JSON.stringify(open[0]?.step)}`,
    );
  }

  /** Fails when a request came that no step fits. */
  assertNothingUnexpected(): void {
    assert.deepEqual(this.#unexpected, [], "requests without a step");
  }

  /** I1–I3 over the requests; see assertRequestInvariants. */
  assertInvariants(
    options: {
      readonly requests?: readonly RecordedRequest[];
      readonly newSessionAt?: readonly number[];
    } = {},
  ): void {
    assertRequestInvariants(options.requests ?? this.requests, options.newSessionAt);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", this.root).pathname;
    const bodyText = await readBody(request);
    const wire = wireOfPath(path);
    if (wire === null || request.method !== "POST") {
      this.#answerOther(request, response, path);
      return;
    }
    const recorded = describeRequest({
      index: this.requests.length,
      wire,
      method: request.method,
      path,
      headers: request.headers,
      bodyText,
      at: Date.now(),
    });
    this.requests.push(recorded);
    response.on("close", () => {
      recorded.answered = response.writableFinished;
      recorded.aborted = !response.writableFinished && !response.locals?.cut;
    });
    const reply = this.#take(recorded);
    if (reply === null) this.#refuse(recorded, response);
    else await this.#send(reply, recorded, response);
  }

  #answerOther(request: IncomingMessage, response: ServerResponse, path: string): void {
    this.otherRequests.push({ method: request.method ?? "", path, headers: request.headers });
    const found = shapeOf(this.#shapes, path, request.headers) ?? null;
    const body = found ?? {
      error: { message: `no such path: ${path}`, type: "not_found_error", code: null },
    };
    sendWhole(response, found === null ? 404 : 200, {}, body);
  }

  #take(request: RecordedRequest): Reply | null {
    const entry = this.#steps.find(
      (candidate) => candidate.left > 0 && fits(candidate.step.when, request),
    );
    if (entry === undefined) return null;
    entry.left -= 1;
    const { reply } = entry.step;
    return typeof reply === "function" ? reply(request) : reply;
  }

  #refuse(request: RecordedRequest, response: ServerResponse): void {
    this.#unexpected.push(
      `${request.path} with last user text ${JSON.stringify(request.lastUserText.slice(0, 200))}`,
    );
    sendWhole(
      response,
      500,
      {},
      {
        error: {
          message: "the script has no step for this request",
          type: "api_error",
          code: null,
        },
      },
    );
  }

  async #send(reply: Reply, request: RecordedRequest, response: ServerResponse): Promise<void> {
    if ("silent" in reply) return;
    if ("hangUp" in reply) {
      cut(response);
    } else if ("status" in reply) {
      sendWhole(response, reply.status, reply.headers ?? {}, reply.body ?? {});
    } else {
      await this.#stream(reply, request, response);
    }
  }

  async #stream(answer: Answer, request: RecordedRequest, response: ServerResponse): Promise<void> {
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
    response.flushHeaders();
    let left = answer.cutAfterBytes ?? Infinity;
    for (const step of renderAnswer(answer, request.wire, request.model, request.index)) {
      if (response.destroyed) return;
      if ("send" in step) left = await sendPiece(response, step.send, left);
      else await this.#pause(step, response);
    }
  }

  async #pause(step: Exclude<Step, { send: string }>, response: ServerResponse): Promise<void> {
    if ("waitMs" in step) await delay(step.waitMs, response);
    else if ("hold" in step) await this.#hold(step.hold, response);
    else if (step.end === "close") response.end();
    else if (step.end === "cut") cut(response);
  }

  #hold(name: string, response: ServerResponse): Promise<void> {
    if (this.#released.has(name)) return Promise.resolve();
    return new Promise((resolve) => {
      response.once("close", resolve);
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]);
    });
  }
}

function fits(when: ScriptStep["when"], request: RecordedRequest): boolean {
  if (when === undefined) return true;
  if (typeof when === "function") return when(request);
  return (
    (when.wire === undefined || when.wire === request.wire) &&
    (when.model === undefined || when.model === request.model) &&
    (when.lastUserIncludes === undefined || request.lastUserText.includes(when.lastUserIncludes)) &&
    (when.systemIncludes === undefined || request.system.includes(when.systemIncludes)) &&
    (when.tools === undefined || when.tools === request.toolNames.length > 0)
  );
}
