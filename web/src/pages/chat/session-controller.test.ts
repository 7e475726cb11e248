import { describe, expect, test } from "vitest";
import type { MessageBody } from "#protocol/http-sessions.ts";
import type { RequestOptions } from "../../api/client.ts";
import { ApiError, errorWithoutAnswer } from "../../api/error.ts";
import type { SessionListener } from "../../socket/socket.ts";
import { IDLE, row } from "./chat-kit.ts";
import { createOutbox, readDraft, writeDraft } from "./outbox.ts";
import { SessionController } from "./session-controller.ts";

function memoryBox(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const map = new Map<string, string>();
  return {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
  };
}

type Post = (body: Record<string, unknown>) => unknown;

function kit(rows: MessageBody[], post: Post, holder: string | null = null) {
  const box = memoryBox();
  const outbox = createOutbox(box);
  const posts: Record<string, unknown>[] = [];
  let listener: SessionListener | null = null;
  const client = {
    request: async <T>(_method: string, path: string, options: RequestOptions = {}): Promise<T> => {
      if (path.endsWith("/messages") && options.json !== undefined) {
        posts.push(options.json as Record<string, unknown>);
        return post(options.json as Record<string, unknown>) as T;
      }
      if (path.endsWith("/messages")) {
        return { session_id: "s", messages: [...rows].reverse(), pagination: {} } as T;
      }
      if (path.endsWith("/stop")) return { stopped: holder === null } as T;
      return { status: "idle", holder, context: { used: 0, window: 0 } } as T;
    },
  };
  const make = () =>
    new SessionController("s", {
      client,
      outbox,
      now: () => 0,
      socket: {
        followSession: (_id, given) => {
          listener = given;
          return () => {};
        },
      },
    });
  const snapshot = () =>
    listener?.onEvent({
      v: 1,
      seq: 1,
      at: "",
      sessionId: "s",
      turnId: null,
      ...IDLE,
    });
  return { make, posts, outbox, snapshot };
}

const settle = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 0);
  });

describe("stopping", () => {
  test.for([null, "cli"])("a turn of %s", async (holder) => {
    const { make } = kit([], () => ({}), holder);
    expect(await make().stop()).toBe(holder);
  });
});

describe("sending", () => {
  test("offline keeps the text and retries with the same client_message_id", async () => {
    let online = false;
    const rows: MessageBody[] = [];
    const { make, posts, outbox, snapshot } = kit(rows, (body) => {
      if (!online) throw errorWithoutAnswer(new TypeError("offline"));
      rows.push(row(1, { content: "hi", client_message_id: String(body["client_message_id"]) }));
      return { status: "started", turn_id: "t", message_id: 1 };
    });
    const controller = make();
    controller.open();
    await controller.send({ text: "hi" });
    expect(controller.view().outbox).toMatchObject([{ text: "hi", state: "waiting" }]);
    expect(outbox.read("s")).toHaveLength(1);

    // The tab is reloaded, then the network comes back.
    const again = make();
    again.open();
    await settle();
    online = true;
    snapshot();
    await settle();
    expect(posts.length).toBeGreaterThanOrEqual(2);
    expect(new Set(posts.map((body) => body["client_message_id"])).size).toBe(1);
    expect(again.view().outbox).toEqual([]);
    expect(outbox.read("s")).toEqual([]);
    expect(again.view().log.rows).toHaveLength(1);
  });

  test("a refusal is shown with its sentence, kept, and can be sent again or discarded", async () => {
    let busy = true;
    const { make, outbox } = kit([], () => {
      if (busy) {
        throw new ApiError({
          status: 409,
          code: "session_busy",
          detail: "A turn runs in cli.",
          requestId: null,
          body: {},
        });
      }
      return { status: "queued", turn_id: null, message_id: null };
    });
    const controller = make();
    await controller.send({ text: "hi" });
    const [failed] = controller.view().outbox;
    expect(failed).toMatchObject({
      state: "failed",
      reason: "A turn runs in cli.",
      code: "session_busy",
    });
    await controller.flush();
    expect(controller.view().outbox).toHaveLength(1);
    busy = false;
    await controller.sendAgain(failed?.clientId ?? "", "queue");
    expect(controller.view().outbox).toEqual([]);
    expect(outbox.read("s")).toEqual([]);
  });

  test("texts go out in the order in which they were written", async () => {
    const { make, posts } = kit([], () => ({ status: "queued" }));
    const controller = make();
    await Promise.all([controller.send({ text: "1" }), controller.send({ text: "2" })]);
    await settle();
    expect(posts.map((body) => body["text"])).toEqual(["1", "2"]);
  });
});

test("drafts are kept per session; broken storage is an empty outbox", () => {
  const box = memoryBox();
  writeDraft(box, "a", "text");
  expect(readDraft(box, "a")).toBe("text");
  expect(readDraft(box, "b")).toBe("");
  writeDraft(box, "a", "");
  expect(box.getItem("hermes.draft.a")).toBeNull();
  box.setItem("hermes.outbox.a", "{broken");
  expect(createOutbox(box).read("a")).toEqual([]);
});
