// One conversation on screen: follows its events, loads its stored messages, sends and keeps unsent texts.
import type {
  ChatSettingsInput,
  ChatStateBody,
  CompressBody,
  RetryBody,
  SendMessageBody,
  SendMessageInput,
  StopBody,
  UndoBody,
} from "#protocol/http-chat.ts";
import type { AgentEvent, ApprovalChoice, BusyMode } from "#protocol/events.ts";
import type { MessageBody, MessagesBody } from "#protocol/http-sessions.ts";
import type { OkBody } from "#protocol/http-status.ts";
import { randomId } from "../../app/plain-http.ts";
import type { Client } from "../../api/client.ts";
import { ApiError } from "../../api/error.ts";
import type { LiveSocket } from "../../socket/socket.ts";
import type { Outgoing } from "./items.ts";
import { fold, NOTHING_LIVE, type Live } from "./live.ts";
import { emptyLog, withNewest, withOlder, type MessageLog } from "./log.ts";
import type { OutboxStore, Unsent } from "./outbox.ts";

const PAGE = 200;
/** Enough for what one turn stores between two fetches. */
const NEWEST = 60;

export interface ChatView {
  readonly live: Live;
  readonly log: MessageLog<MessageBody>;
  readonly outbox: readonly Outgoing[];
  readonly chat: ChatStateBody | null;
  /** The conversation cannot be shown: refused by the server. */
  readonly failure: ApiError | null;
  readonly loadingOlder: boolean;
}

export interface ControllerDeps {
  readonly client: Pick<Client, "request">;
  readonly socket: Pick<LiveSocket, "followSession">;
  readonly outbox: OutboxStore;
  readonly now: () => number;
  readonly onEvent?: (event: AgentEvent) => void;
}

export class SessionController {
  readonly sessionId: string;
  readonly #deps: ControllerDeps;
  readonly #listeners = new Set<() => void>();
  #view: ChatView;
  #leave: (() => void) | null = null;
  #fetching = false;
  #fetchAgain = false;
  #sending = false;
  #flushed = false;
  #open = false;

  constructor(sessionId: string, deps: ControllerDeps) {
    this.sessionId = sessionId;
    this.#deps = deps;
    this.#view = {
      live: NOTHING_LIVE,
      log: emptyLog(),
      outbox: deps.outbox.read(sessionId).map((entry) => outgoing(entry, "waiting")),
      chat: null,
      failure: null,
      loadingOlder: false,
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly view = (): ChatView => this.#view;

  open(): void {
    if (this.#open) return;
    this.#open = true;
    this.#leave = this.#deps.socket.followSession(this.sessionId, {
      onEvent: (event) => this.#take(event),
      onRefused: (code, detail) => this.#refused(code, detail),
    });
    void this.#fetchNewest(PAGE);
    void this.#fetchState();
  }

  close(): void {
    this.#open = false;
    this.#leave?.();
    this.#leave = null;
  }

  #set(change: Partial<ChatView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }

  #take(event: AgentEvent): void {
    const before = this.#view.live;
    const live = fold(before, event, this.#deps.now());
    this.#set({ live });
    if (live.revision !== before.revision) void this.#fetchNewest(NEWEST);
    if (event.type === "snapshot" || event.type === "turn-end" || event.type === "model-end") {
      void this.#fetchState();
    }
    // The socket is back: what could not be sent goes now.
    if (event.type === "snapshot") void this.flush();
    this.#deps.onEvent?.(event);
  }

  #refused(code: string, detail: string): void {
    if (code !== "not_found") return;
    this.#set({ failure: new ApiError({ status: 404, code, detail, requestId: null, body: {} }) });
  }

  #url(rest = ""): string {
    return `/api/chat/sessions/${encodeURIComponent(this.sessionId)}${rest}`;
  }

  async #fetchState(): Promise<void> {
    try {
      this.#set({ chat: await this.#deps.client.request<ChatStateBody>("GET", this.#url()) });
    } catch {
      // The stream and the messages say what is wrong; the usage line stays as it was.
    }
  }

  async #messages(query: Record<string, number | string>): Promise<MessagesBody> {
    const path = `/api/sessions/${encodeURIComponent(this.sessionId)}/messages`;
    return this.#deps.client.request<MessagesBody>("GET", path, { query });
  }

  /** Loads the end of the conversation; calls that come while one runs are answered by one more. */
  async #fetchNewest(limit: number): Promise<void> {
    if (this.#fetching) {
      this.#fetchAgain = true;
      return;
    }
    this.#fetching = true;
    try {
      const page = await this.#messages({ limit, order: "desc" });
      const reachesStart = page.messages.length < limit;
      this.#set({
        log: withNewest(this.#view.log, page.messages, reachesStart),
        failure: null,
      });
      this.#forgetStored();
    } catch (error) {
      if (error instanceof ApiError && error.status !== 0) this.#set({ failure: error });
    } finally {
      this.#fetching = false;
    }
    if (this.#fetchAgain) {
      this.#fetchAgain = false;
      await this.#fetchNewest(NEWEST);
    }
  }

  async loadOlder(): Promise<void> {
    const oldest = this.#view.log.rows[0];
    if (!oldest || this.#view.log.complete || this.#view.loadingOlder) return;
    this.#set({ loadingOlder: true });
    try {
      const page = await this.#messages({ limit: PAGE, order: "desc", before: oldest.id });
      this.#set({
        log: withOlder(this.#view.log, page.messages, page.messages.length < PAGE),
        loadingOlder: false,
      });
    } catch {
      this.#set({ loadingOlder: false });
    }
  }

  /** Keeps the text until the server has it; offline it waits and goes out with the same id. */
  async send(input: Omit<SendMessageInput, "client_message_id">): Promise<void> {
    const entry: Unsent = { clientId: `web-${randomId()}`, ...input };
    this.#deps.outbox.add(this.sessionId, entry);
    this.#set({ outbox: [...this.#view.outbox, outgoing(entry, "waiting")] });
    await this.flush();
  }

  /** Sends waiting texts in order; stops at the first that cannot go. */
  async flush(): Promise<void> {
    if (this.#sending) {
      this.#flushed = true;
      return;
    }
    this.#sending = true;
    for (const entry of this.#deps.outbox.read(this.sessionId)) {
      const shown = this.#view.outbox.find((out) => out.clientId === entry.clientId);
      if (shown?.state === "failed") continue;
      if (!(await this.#post(entry))) break;
    }
    this.#sending = false;
    if (this.#flushed) {
      this.#flushed = false;
      await this.flush();
    }
  }

  async #post(entry: Unsent): Promise<boolean> {
    const { clientId, ...input } = entry;
    this.#mark(clientId, { state: "sending", reason: null, code: null });
    try {
      const body: SendMessageInput = { ...input, client_message_id: clientId };
      const answer = await this.#deps.client.request<SendMessageBody>(
        "POST",
        this.#url("/messages"),
        { json: body },
      );
      this.#deps.outbox.remove(this.sessionId, clientId);
      // A queued or steered text shows in the queue or in the next stored row, a started one as that row.
      if (answer.status !== "started") this.#drop(clientId);
      else void this.#fetchNewest(NEWEST);
      return true;
    } catch (error) {
      const known = error instanceof ApiError ? error : null;
      if (known?.status === 0) {
        this.#mark(clientId, { state: "waiting", reason: null, code: null });
        return false;
      }
      const reason = known?.detail ?? String(error);
      this.#mark(clientId, { state: "failed", reason, code: known?.code ?? "internal" });
      return true;
    }
  }

  #mark(clientId: string, change: Partial<Outgoing>): void {
    this.#set({
      outbox: this.#view.outbox.map((out) =>
        out.clientId === clientId ? { ...out, ...change } : out,
      ),
    });
  }

  #drop(clientId: string): void {
    this.#set({ outbox: this.#view.outbox.filter((out) => out.clientId !== clientId) });
  }

  /** Rows that arrived stand for their unsent twins. */
  #forgetStored(): void {
    const stored = new Set(this.#view.log.rows.map((row) => row.client_message_id));
    const left = this.#view.outbox.filter((out) => !stored.has(out.clientId));
    if (left.length === this.#view.outbox.length) return;
    for (const out of this.#view.outbox) {
      if (stored.has(out.clientId)) this.#deps.outbox.remove(this.sessionId, out.clientId);
    }
    this.#set({ outbox: left });
  }

  sendAgain(clientId: string, whenBusy?: BusyMode): Promise<void> {
    if (whenBusy !== undefined) {
      const entry = this.#deps.outbox.read(this.sessionId).find((out) => out.clientId === clientId);
      if (entry) this.#deps.outbox.replace(this.sessionId, { ...entry, when_busy: whenBusy });
    }
    this.#mark(clientId, { state: "waiting", reason: null, code: null });
    return this.flush();
  }

  discard(clientId: string): void {
    this.#deps.outbox.remove(this.sessionId, clientId);
    this.#drop(clientId);
  }

  /** null: it was stopped, or nothing ran. Otherwise where the turn runs, and goes on: only that process can stop it. */
  async stop(): Promise<string | null> {
    const { stopped } = await this.#deps.client.request<StopBody>("POST", this.#url("/stop"));
    if (stopped) return null;
    await this.#fetchState();
    return this.#view.chat?.holder ?? null;
  }

  /** False when somebody else had decided before. */
  async approve(requestId: string, choice: ApprovalChoice): Promise<string | null> {
    try {
      await this.#deps.client.request<OkBody>(
        "POST",
        this.#url(`/approvals/${encodeURIComponent(requestId)}`),
        { json: { choice } },
      );
      return null;
    } catch (error) {
      const decided = error instanceof ApiError && error.status === 409 ? error : null;
      if (decided === null) throw error;
      const before = decided.body["choice"];
      return typeof before === "string" ? before : decided.detail;
    }
  }

  async clarify(requestId: string, answer: string): Promise<void> {
    const path = this.#url(`/clarify/${encodeURIComponent(requestId)}`);
    await this.#deps.client.request<OkBody>("POST", path, { json: { answer } });
  }

  async retry(): Promise<void> {
    await this.#deps.client.request<RetryBody>("POST", this.#url("/retry"), {
      json: { client_message_id: `web-${randomId()}` },
    });
  }

  async undo(): Promise<number> {
    const { removed } = await this.#deps.client.request<UndoBody>("POST", this.#url("/undo"), {
      json: {},
    });
    await this.#fetchNewest(PAGE);
    return removed;
  }

  compress(focus: string): Promise<CompressBody> {
    return this.#deps.client.request<CompressBody>("POST", this.#url("/compress"), {
      json: focus === "" ? {} : { focus },
    });
  }

  async unqueue(queueId: string): Promise<void> {
    await this.#deps.client.request("POST", this.#url("/unqueue"), {
      json: { queue_id: queueId },
    });
  }

  async change(settings: ChatSettingsInput): Promise<void> {
    await this.#deps.client.request("PATCH", this.#url(), { json: settings });
    await this.#fetchState();
  }
}

function outgoing(entry: Unsent, state: Outgoing["state"]): Outgoing {
  return { clientId: entry.clientId, text: entry.text, state, reason: null, code: null };
}
