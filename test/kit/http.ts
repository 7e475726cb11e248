// HTTP as tests need it: every answer is a value, whatever its status; raw bytes where a client library would be too polite.
import { request } from "node:http";
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  /** Lower-case names; several lines of one name are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** One `Set-Cookie` line each. */
  readonly setCookies: readonly string[];
  readonly body: string;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test names the shape it expects
  json<T = Record<string, unknown>>(): T;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** An object goes out as JSON. */
  readonly body?: string | Buffer | object;
}

/** Never follows a redirect, keeps no cookie, uses no proxy. Rejects only when there is no HTTP answer. */
export function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body } = question;
  const isJson = typeof body === "object" && !Buffer.isBuffer(body);
  const payload = isJson ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        agent: false,
        path: pathAsGiven(url),
        headers: {
          ...(isJson ? { "content-type": "application/json" } : {}),
          ...(payload === undefined
            ? {}
            : { "content-length": String(Buffer.byteLength(payload)) }),
          ...(headers as Record<string, string>),
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve(
            answerOf(
              incoming.statusCode ?? 0,
              flat(incoming.headers),
              Buffer.concat(chunks),
              incoming.headers["set-cookie"],
            ),
          ),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}

/** `new URL` would resolve dot segments: what a test writes is what goes over the wire, as far as HTTP can carry it. */
function pathAsGiven(url: string): string {
  const rest = /^https?:\/\/[^/?#]+(\/[!-"$-~]*)$/u.exec(url)?.[1];
  const { pathname, search } = new URL(url);
  return rest ?? `${pathname}${search}`;
}

/** Sends these bytes and reads until the server closes or the answer is complete. Lines are joined by CRLF. */
export function askRaw(
  port: number,
  lines: readonly string[],
  host = "127.0.0.1",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.write(lines.join("\r\n")));
    const chunks: Buffer[] = [];
    const finish = (): void => {
      const parsed = parseAnswer(Buffer.concat(chunks));
      socket.destroy();
      if (parsed) resolve(parsed);
      else reject(new Error("no HTTP answer"));
    };
    socket.setTimeout(5000, finish);
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (isComplete(Buffer.concat(chunks))) finish();
    });
    socket.on("error", reject);
    socket.on("end", finish);
  });
}

function isComplete(bytes: Buffer): boolean {
  const answer = parseAnswer(bytes);
  if (!answer) return false;
  if (answer.status === 101 || answer.status === 204 || answer.status === 304) return true;
  const length = answer.headers["content-length"];
  return length !== undefined && Buffer.byteLength(answer.body) >= Number(length);
}

function parseAnswer(bytes: Buffer): Answer | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const rest = bytes.subarray(end + 4);
  const isChunked = headers["transfer-encoding"] === "chunked";
  return answerOf(Number(first.split(" ")[1]), headers, isChunked ? unchunked(rest) : rest);
}

/** RFC 9112 §7.1, without trailers. */
function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const size = end === -1 ? 0 : Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

function answerOf(
  status: number,
  headers: Record<string, string>,
  bytes: Buffer,
  setCookies: readonly string[] = [],
): Answer {
  const body = bytes.toString("utf8");
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as above
  return { status, headers, setCookies, body, json: <T>() => JSON.parse(body) as T };
}

function flat(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]),
  );
}

export interface SseMessage {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** Reads an event stream until `close` is called. Comments are counted, not kept. */
export function openEvents(url: string, headers: Readonly<Record<string, string>>) {
  const messages: SseMessage[] = [];
  const seen = { comments: 0, status: 0, ended: false, headers: {} as Record<string, string> };
  const outgoing = request(url, { agent: false, headers }, (incoming) => {
    seen.status = incoming.statusCode ?? 0;
    seen.headers = flat(incoming.headers);
    let rest = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (text: string) => {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const message = parseBlock(block);
        if (message) messages.push(message);
        else if (block.startsWith(":")) seen.comments++;
      }
    });
    incoming.on("close", () => {
      seen.ended = true;
    });
    incoming.on("error", () => undefined);
  });
  outgoing.on("error", () => {
    seen.ended = true;
  });
  outgoing.end();
  return { messages, seen, close: () => void outgoing.destroy() };
}

function parseBlock(block: string): SseMessage | null {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  const event = fields.get("event");
  if (event === undefined) return null;
  return { id: fields.get("id") ?? null, event, data: fields.get("data") ?? "" };
}
