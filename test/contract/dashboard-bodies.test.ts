// Bodies that are refused (dashboard.md §1.5): the answer arrives although the client goes on sending, and reads only when it has
// sent everything, as simple clients do.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { LOCAL_TOKEN, openDashboard } from "../kit/dashboard.ts";
import { until } from "../kit/until.ts";

const MEBI = 1024 * 1024;
const PIECE = Buffer.alloc(MEBI);

interface Sender {
  readonly socket: Socket;
  /** Everything that came, and the error that ended it. */
  readonly seen: { text: string; error: Error | null };
}

async function openSender(t: TestContext, port: number): Promise<Sender> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  await once(socket, "connect");
  const seen: Sender["seen"] = { text: "", error: null };
  socket.on("error", (error) => (seen.error = error));
  return { socket, seen };
}

function head(port: number, lines: readonly string[]): string {
  return [...lines, `Host: 127.0.0.1:${port}`, "", ""].join("\r\n");
}

/** Sends, and listens only afterwards. */
async function sendAll({ socket, seen }: Sender, pieces: readonly (string | Buffer)[]) {
  for (const piece of pieces) {
    if (seen.error === null && !socket.write(piece)) await once(socket, "drain");
  }
  socket.on("data", (chunk: Buffer) => (seen.text += chunk.toString("latin1")));
}

const statuses = ({ seen }: Sender): string[] =>
  [...seen.text.matchAll(/HTTP\/1\.1 (\d{3})/gu)].map(([, status = ""]) => status);

const TOKEN = `X-Hermes-Session-Token: ${LOCAL_TOKEN}`;
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ["413", "an upload over its limit", [TOKEN, "Content-Type: image/png"]],
  ["413", "JSON over its limit", [TOKEN, "Content-Type: application/json"]],
  ["415", "a type that is not taken", [TOKEN, "Content-Type: text/plain"]],
  ["401", "no credential", ["Content-Type: application/json"]],
];

test("40 MiB that nobody wants: the answer arrives, and the connection goes on", async (t) => {
  const { running } = await openDashboard(t);
  const { port } = new URL(running.url);
  for (const [status, what, lines] of CASES) {
    const path = what.startsWith("an upload") ? "/api/chat/attachments" : "/api/chat/sessions";
    const sender = await openSender(t, Number(port));
    const request = [`POST ${path} HTTP/1.1`, `Content-Length: ${40 * MEBI}`, ...lines];
    await sendAll(sender, [
      head(Number(port), request),
      ...Array.from({ length: 40 }, () => PIECE),
      head(Number(port), ["GET /api/health HTTP/1.1"]),
    ]);
    await until(`${what}: both answers`, () => statuses(sender).length === 2 || sender.seen.error);
    assert.equal(sender.seen.error, null, what);
    assert.deepEqual(statuses(sender), [status, "200"], what);
  }
});

test("a length that was not announced: 413 as soon as it is too much", async (t) => {
  const { running } = await openDashboard(t);
  const { port } = new URL(running.url);
  const sender = await openSender(t, Number(port));
  const lines = ["Transfer-Encoding: chunked", TOKEN, "Content-Type: image/png"];
  const size = `${MEBI.toString(16)}\r\n`;
  await sendAll(sender, [
    head(Number(port), ["POST /api/chat/attachments HTTP/1.1", ...lines]),
    ...Array.from({ length: 30 }, () => [size, PIECE, "\r\n"]).flat(),
    "0\r\n\r\n",
  ]);
  await until("the answer", () => statuses(sender).length === 1 || sender.seen.error);
  assert.deepEqual([sender.seen.error, statuses(sender)], [null, ["413"]]);
});
