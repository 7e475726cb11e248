// SessionStore in memory: simple and correct, for tests of everything above the store. One behaviour suite
// (test/contract/session-store.ts) runs on it and on SQLite. Longer than most files: it is one whole port.
import { HermesError } from "#base/errors.ts";
import { isAlive, type ProcessIdentity } from "#base/process-identity.ts";
import type * as Port from "#agent/ports/session-store.ts";
import { addUsage, HIDDEN_SOURCES, NO_USAGE } from "#protocol/messages.ts";
import type { SearchHit, SessionRow, StoredMessage, Usage } from "#protocol/messages.ts";
import { readExport } from "./memory-store-import.ts";

interface Lease {
  readonly turnId: string;
  readonly owner: Port.LeaseOwner;
  readonly expiresAt: number;
}

interface UsageEntry {
  readonly sessionId: string;
  readonly day: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly at: number;
}

const OUTCOME_UNKNOWN = JSON.stringify({ error: "interrupted", note: "outcome unknown" });

export interface MemoryStoreOptions {
  readonly isAlive?: (identity: ProcessIdentity) => boolean;
  /** Seconds since 1970, for what the port gives no time. */
  readonly now?: () => number;
}

export class MemoryStore implements Port.SessionStore {
  readonly sessions = new Map<string, SessionRow>();
  readonly turns = new Map<string, Port.TurnRow>();
  messages: StoredMessage[] = [];
  usage: UsageEntry[] = [];
  readonly #leases = new Map<string, Lease>();
  readonly drafts = new Map<string, { readonly sessionId: string; readonly text: string }>();
  readonly #meta = new Map<string, string>();
  readonly #inbound = new Map<string, Port.InboundEvent>();
  readonly #isAlive: (identity: ProcessIdentity) => boolean;
  readonly #now: () => number;
  #lastMessageId = 0;
  #changes = 0;

  constructor(options: MemoryStoreOptions = {}) {
    this.#isAlive = options.isAlive ?? isAlive;
    this.#now = options.now ?? (() => Date.now() / 1000);
  }

  async close(): Promise<void> {}

  async ping(): Promise<Port.StorePing> {
    return { ok: true, code: null, total: this.sessions.size };
  }

  async changeToken(): Promise<string> {
    return String(this.#changes);
  }

  async createSession(input: Port.NewSession): Promise<SessionRow> {
    if (this.sessions.has(input.id)) {
      throw new HermesError("SESSION_EXISTS", `there is a session ${input.id} already`);
    }
    this.#refuseTakenTitle(input.title ?? null, null);
    const parent = input.parentSessionId ? this.#session(input.parentSessionId) : null;
    const row: SessionRow = {
      id: input.id,
      source: input.source,
      userId: input.userId ?? null,
      model: input.model ?? null,
      modelConfig: input.modelConfig ?? {},
      systemPrompt: null,
      toolsHash: null,
      parentSessionId: parent?.id ?? null,
      rootId: parent?.rootId ?? input.id,
      sessionKey: input.sessionKey ?? null,
      cwd: input.cwd ?? null,
      startedAt: input.startedAt,
      lastActiveAt: input.startedAt,
      endedAt: null,
      endReason: null,
      messageCount: 0,
      toolCallCount: 0,
      apiCallCount: 0,
      usage: NO_USAGE,
      costUsd: null,
      title: input.title ?? null,
      titleSource: input.titleSource ?? null,
      state: "idle",
      hidden: false,
      archived: false,
      pinned: false,
    };
    return this.#put(row);
  }

  async getSession(id: string): Promise<SessionRow | null> {
    return this.sessions.get(id) ?? null;
  }

  async resolveSession(ref: string): Promise<Port.SessionResolution> {
    const all = [...this.sessions.values()];
    const exact = this.sessions.get(ref);
    if (exact) return { found: "one", session: exact };
    const byPrefix = ref === "" ? [] : all.filter((row) => row.id.startsWith(ref));
    if (byPrefix.length > 1) return { found: "many", candidates: newestFirst(byPrefix) };
    const titled = all.find((row) => row.title === ref);
    const latest = ref === "latest" ? newestFirst(all.filter(isListed))[0] : undefined;
    const session = byPrefix[0] ?? titled ?? latest;
    return session ? { found: "one", session } : { found: "none" };
  }

  async listSessions(
    filter: Port.SessionFilter,
  ): Promise<{ sessions: readonly SessionRow[]; total: number }> {
    const rows = newestFirst(
      [...this.sessions.values()].filter(
        (row) =>
          (filter.source === undefined
            ? filter.all || isListed(row)
            : row.source === filter.source) &&
          (filter.cwd === undefined || row.cwd === filter.cwd) &&
          (filter.archived === true || !row.archived),
      ),
    );
    const sessions = rows.slice(filter.offset, filter.offset + filter.limit);
    return { sessions, total: rows.length };
  }

  async updateSession(id: string, patch: Port.SessionPatch): Promise<SessionRow> {
    const row = this.#session(id);
    if (patch.title !== undefined) this.#refuseTakenTitle(patch.title, id);
    return this.#put({ ...row, ...patch });
  }

  async endSession(id: string, reason: string, endedAt: number): Promise<void> {
    this.#put({ ...this.#session(id), endedAt, endReason: reason });
  }

  async deleteSession(id: string): Promise<void> {
    this.#session(id);
    const holder = await this.leaseOf(id, this.#now());
    if (holder) {
      throw new HermesError("SESSION_BUSY", `a turn from ${holder.surface} runs in this session`, {
        data: { holder: holder.surface },
      });
    }
    this.#remove(id);
  }

  async newestDescendant(id: string): Promise<{ session: SessionRow; path: readonly string[] }> {
    let session = this.#session(id);
    const path = [id];
    for (;;) {
      const parentId = session.id;
      const children = [...this.sessions.values()].filter(
        (row) => row.parentSessionId === parentId && !path.includes(row.id),
      );
      const newest = children.sort(
        (a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1),
      )[0];
      if (!newest) return { session, path };
      path.push(newest.id);
      session = newest;
    }
  }

  async lineage(id: string): Promise<readonly SessionRow[]> {
    const { rootId } = this.#session(id);
    return [...this.sessions.values()]
      .filter((row) => row.rootId === rootId)
      .sort((a, b) => a.startedAt - b.startedAt);
  }

  async countActive(since: number): Promise<number> {
    return [...this.sessions.values()].filter(
      (row) => row.endedAt === null && row.lastActiveAt >= since,
    ).length;
  }

  async appendMessages(
    sessionId: string,
    messages: readonly Port.NewMessage[],
  ): Promise<readonly number[]> {
    this.#session(sessionId);
    return messages.map((message) => this.#append(sessionId, message));
  }

  async readMessages(
    sessionId: string,
    page: Parameters<Port.SessionStore["readMessages"]>[1],
  ): Promise<Port.MessagePage> {
    this.#session(sessionId);
    const all = this.messages.filter((row) => row.sessionId === sessionId);
    const wanted = all.filter(
      (row) =>
        (page.before === undefined || row.id < page.before) &&
        (page.after === undefined || row.id > page.after),
    );
    if (page.order === "desc") wanted.reverse();
    const offset = page.offset ?? 0;
    return { messages: wanted.slice(offset, offset + page.limit), total: all.length };
  }

  async loadHistory(sessionId: string): Promise<Port.ModelHistory> {
    this.#session(sessionId);
    const repairedCalls = this.#answerOpenCalls(sessionId);
    const messages = this.messages.filter((row) => row.sessionId === sessionId && row.active);
    return { messages, repairedCalls };
  }

  async deactivateFrom(sessionId: string, messageId: number): Promise<number> {
    this.#session(sessionId);
    let count = 0;
    this.messages = this.messages.map((row) => {
      if (row.sessionId !== sessionId || row.id < messageId || !row.active) return row;
      count++;
      return { ...row, active: false };
    });
    this.#changes++;
    return count;
  }

  async compress(step: Port.CompressionStep): Promise<SessionRow> {
    const parent = this.#session(step.parentId);
    const child = await this.createSession({ ...step.child, parentSessionId: parent.id });
    for (const message of step.messages) this.#append(child.id, message);
    this.#put({
      ...parent,
      endedAt: step.child.startedAt,
      endReason: "compressed",
      state: "idle",
    });
    const lease = this.#leases.get(parent.id);
    if (lease) {
      this.#leases.delete(parent.id);
      this.#leases.set(child.id, lease);
    }
    for (const turn of this.turns.values()) {
      if (turn.sessionId === parent.id && turn.endedAt === null) {
        this.turns.set(turn.turnId, { ...turn, sessionId: child.id });
      }
    }
    return this.#put({ ...this.#session(child.id), state: parent.state });
  }

  async takeLease(
    sessionId: string,
    lease: Parameters<Port.SessionStore["takeLease"]>[1],
  ): Promise<Port.LeaseAttempt> {
    this.#session(sessionId);
    const held = this.#leases.get(sessionId);
    const holder = held?.turnId === lease.turnId ? null : await this.leaseOf(sessionId, lease.now);
    if (holder) return { taken: false, holder };
    const { turnId, owner, now, ttlSeconds } = lease;
    this.#leases.set(sessionId, { turnId, owner, expiresAt: now + ttlSeconds });
    this.#changes++;
    return { taken: true };
  }

  async renewLease(sessionId: string, turnId: string, expiresAt: number): Promise<boolean> {
    const lease = this.#leases.get(sessionId);
    if (lease?.turnId !== turnId) return false;
    this.#leases.set(sessionId, { ...lease, expiresAt });
    return true;
  }

  async dropLease(sessionId: string, turnId: string): Promise<void> {
    if (this.#leases.get(sessionId)?.turnId !== turnId) return;
    this.#leases.delete(sessionId);
    this.#changes++;
  }

  async leaseOf(sessionId: string, now: number): Promise<Port.LeaseOwner | null> {
    const lease = this.#leases.get(sessionId);
    return lease && lease.expiresAt > now && this.#isAlive(lease.owner) ? lease.owner : null;
  }

  async openTurn(turn: Parameters<Port.SessionStore["openTurn"]>[0]): Promise<void> {
    const session = this.#session(turn.sessionId);
    this.turns.set(turn.turnId, { ...turn, endedAt: null, outcome: null });
    this.#put({ ...session, state: "running" });
  }

  async closeTurn(end: Parameters<Port.SessionStore["closeTurn"]>[0]): Promise<readonly number[]> {
    this.#session(end.sessionId);
    const turn = this.turns.get(end.turnId);
    this.drafts.delete(end.turnId);
    if (turn) {
      const { endedAt, outcome, sessionId } = end;
      this.turns.set(end.turnId, { ...turn, sessionId, endedAt, outcome });
    }
    const ids = end.messages.map((message) => this.#append(end.sessionId, message));
    this.#put({ ...this.#session(end.sessionId), state: end.state });
    return ids;
  }

  async appendDraft(draft: Parameters<Port.SessionStore["appendDraft"]>[0]): Promise<void> {
    const { turnId, sessionId, text } = draft;
    this.drafts.set(turnId, { sessionId, text: (this.drafts.get(turnId)?.text ?? "") + text });
  }

  async clearDraft(turnId: string): Promise<void> {
    this.drafts.delete(turnId);
  }

  async recoverLostTurns(now: number): Promise<readonly Port.TurnRow[]> {
    const lost: Port.TurnRow[] = [];
    for (const turn of this.turns.values()) {
      if (turn.endedAt !== null || this.#isAlive(turn.owner)) continue;
      const row: Port.TurnRow = { ...turn, endedAt: now, outcome: "lost" };
      this.turns.set(turn.turnId, row);
      this.#leases.delete(turn.sessionId);
      this.#saveDraft(turn.turnId, now);
      const session = this.sessions.get(turn.sessionId);
      if (session) this.#put({ ...session, state: "interrupted" });
      lost.push(row);
    }
    return lost;
  }

  async search(
    query: string,
    options: Parameters<Port.SessionStore["search"]>[1],
  ): Promise<{ hits: readonly SearchHit[]; partial: boolean }> {
    const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    if (words.length === 0) return { hits: await this.recentHits(options.limit), partial: false };
    const matches = this.messages.filter((row) => {
      const text = (row.content ?? "").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const allowed = matches.filter((row) => {
      const session = this.#session(row.sessionId);
      if (options.source !== undefined) return session.source === options.source;
      return options.all === true || isListed(session);
    });
    return { hits: this.#hits(allowed, options.limit, words[0] ?? ""), partial: false };
  }

  async recentHits(limit: number): Promise<readonly SearchHit[]> {
    const rows = this.messages.filter(
      (row) => row.role !== "tool" && isListed(this.#session(row.sessionId)),
    );
    return this.#hits(rows, limit, "");
  }

  async neighbours(messageId: number, around: number): Promise<readonly StoredMessage[]> {
    const middle = this.messages.find((row) => row.id === messageId);
    if (!middle) return [];
    const rows = this.messages.filter((row) => row.sessionId === middle.sessionId);
    const at = rows.indexOf(middle);
    return rows.slice(Math.max(0, at - around), at + around + 1);
  }

  async addUsage(entry: Parameters<Port.SessionStore["addUsage"]>[0]): Promise<void> {
    const session = this.#session(entry.sessionId);
    const day = new Date(entry.at * 1000).toISOString().slice(0, 10);
    this.usage.push({ ...entry, day });
    this.#put({
      ...session,
      usage: addUsage(session.usage, entry.usage),
      apiCallCount: session.apiCallCount + 1,
      costUsd: addCost(session.costUsd, entry.costUsd),
    });
  }

  async usageByDay(since: number): Promise<readonly Port.DailyUsage[]> {
    const groups = Map.groupBy(this.#usageSince(since), (entry) => entry.day);
    return [...groups]
      .map(([day, entries]) => ({ day, ...sumOf(entries) }))
      .sort((a, b) => a.day.localeCompare(b.day));
  }

  async usageByModel(since: number): Promise<readonly Port.ModelUsage[]> {
    const groups = Map.groupBy(this.#usageSince(since), (entry) =>
      JSON.stringify([entry.provider, entry.model]),
    );
    return [...groups.values()].map((entries) => ({
      provider: entries[0]?.provider ?? "",
      model: entries[0]?.model ?? "",
      ...sumOf(entries),
      toolCalls: [...new Set(entries.map((entry) => entry.sessionId))].reduce(
        (sum, id) => sum + (this.sessions.get(id)?.toolCallCount ?? 0),
        0,
      ),
      lastUsedAt: Math.max(...entries.map((entry) => entry.at)),
    }));
  }

  async stats(): Promise<Port.StoreStats> {
    const bySource: Record<string, number> = {};
    for (const { source } of this.sessions.values()) {
      bySource[source] = (bySource[source] ?? 0) + 1;
    }
    return {
      sessions: this.sessions.size,
      messages: this.messages.length,
      bySource,
      sizeBytes: 0,
    };
  }

  async recordInbound(event: Port.InboundEvent): Promise<boolean> {
    for (const [key, old] of this.#inbound) {
      const isOld = old.platform === event.platform && old.now < event.forgetBefore;
      if (isOld && old.state === "done") this.#inbound.delete(key);
    }
    const key = JSON.stringify([event.platform, event.eventId]);
    if (this.#inbound.has(key)) return false;
    this.#inbound.set(key, event);
    return true;
  }

  async forgetInbound(platform: string, eventId: string): Promise<void> {
    this.#inbound.delete(JSON.stringify([platform, eventId]));
  }

  async getMeta(key: string): Promise<string | null> {
    return this.#meta.get(key) ?? null;
  }

  async setMeta(key: string, value: string): Promise<void> {
    this.#meta.set(key, value);
    this.#changes++;
  }

  async prune(options: Parameters<Port.SessionStore["prune"]>[0]): Promise<readonly SessionRow[]> {
    const old = [...this.sessions.values()].filter(
      (row) =>
        (row.endedAt ?? row.lastActiveAt) < options.olderThan &&
        (options.source === undefined || row.source === options.source) &&
        !row.pinned &&
        !this.#leases.has(row.id),
    );
    if (!options.dryRun) for (const row of old) this.#remove(row.id);
    return old;
  }

  async deleteEmpty(options: { readonly dryRun: boolean }): Promise<number> {
    const empty = [...this.sessions.values()].filter(
      (row) => row.messageCount === 0 && !row.pinned && !this.#leases.has(row.id),
    );
    if (!options.dryRun) for (const row of empty) this.#remove(row.id);
    return empty.length;
  }

  async optimise(): Promise<void> {}

  async check(): Promise<readonly string[]> {
    return [];
  }

  async backup(_path: string): Promise<void> {
    throw new HermesError("NOT_SUPPORTED", "the store in memory has no file to copy");
  }

  async *exportLines(ids: readonly string[]): AsyncIterable<string> {
    const wanted = ids.length === 0 ? [...this.sessions.keys()] : ids;
    for (const id of wanted) {
      yield JSON.stringify({ type: "session", ...this.#session(id) });
      for (const message of this.messages.filter((row) => row.sessionId === id)) {
        yield JSON.stringify({ type: "message", ...message });
      }
    }
  }

  async importLines(lines: AsyncIterable<string>): Promise<Port.ImportReport> {
    let imported = 0;
    let skipped = 0;
    const renamed: { from: string; to: string }[] = [];
    for await (const { session, messages } of readExport(lines)) {
      const known = this.sessions.get(session.id);
      const count = this.messages.filter((row) => row.sessionId === session.id).length;
      if (known && count === messages.length) {
        skipped++;
        continue;
      }
      const id = known ? `${session.id}_${this.sessions.size}` : session.id;
      if (known) renamed.push({ from: session.id, to: id });
      const title = this.#isTitleTaken(session.title, null) ? null : session.title;
      const rootId = session.rootId === session.id ? id : session.rootId;
      this.#put({ ...session, id, title, rootId, messageCount: 0, toolCallCount: 0 });
      for (const message of messages) this.#append(id, message);
      this.#put({ ...this.#session(id), lastActiveAt: session.lastActiveAt });
      imported++;
    }
    return { imported, skipped, renamed };
  }

  #session(id: string): SessionRow {
    const row = this.sessions.get(id);
    if (!row) throw new HermesError("SESSION_NOT_FOUND", `there is no session ${id}`);
    return row;
  }

  #put(row: SessionRow): SessionRow {
    this.sessions.set(row.id, row);
    this.#changes++;
    return row;
  }

  #remove(id: string): void {
    this.sessions.delete(id);
    this.#leases.delete(id);
    this.messages = this.messages.filter((row) => row.sessionId !== id);
    this.usage = this.usage.filter((entry) => entry.sessionId !== id);
    for (const row of this.sessions.values()) {
      if (row.parentSessionId === id) this.#put({ ...row, parentSessionId: null });
    }
    this.#changes++;
  }

  #append(sessionId: string, message: Port.NewMessage): number {
    const key = message.clientKey ?? null;
    const known =
      key === null
        ? undefined
        : this.messages.find((row) => row.sessionId === sessionId && row.clientKey === key);
    if (known) return known.id;
    if (message.role === "assistant" && message.turnId) this.drafts.delete(message.turnId);
    const id = ++this.#lastMessageId;
    this.messages.push({
      id,
      sessionId,
      role: message.role,
      content: message.content,
      toolCallId: message.toolCallId ?? null,
      toolCalls: message.toolCalls ?? null,
      toolName: message.toolName ?? null,
      timestamp: message.timestamp,
      tokenCount: message.tokenCount ?? null,
      finishReason: message.finishReason ?? null,
      reasoning: message.reasoning ?? null,
      reasoningDetails: message.reasoningDetails ?? null,
      active: true,
      kind: message.kind ?? null,
      turnId: message.turnId ?? null,
      platformMessageId: message.platformMessageId ?? null,
      clientKey: key,
    });
    const session = this.#session(sessionId);
    this.#put({
      ...session,
      lastActiveAt: Math.max(session.lastActiveAt, message.timestamp),
      messageCount: session.messageCount + 1,
      toolCallCount: session.toolCallCount + (message.toolCalls?.length ?? 0),
    });
    return id;
  }

  #saveDraft(turnId: string, timestamp: number): void {
    const draft = this.drafts.get(turnId);
    if (!draft || !this.sessions.has(draft.sessionId)) return;
    const { sessionId, text: content } = draft;
    this.#append(sessionId, {
      role: "assistant",
      content,
      timestamp,
      finishReason: "interrupted",
      turnId,
    });
  }

  #answerOpenCalls(sessionId: string): string[] {
    const rows = this.messages.filter((row) => row.sessionId === sessionId && row.active);
    const answered = new Set(rows.map((row) => row.toolCallId));
    const open = rows.flatMap((row) =>
      (row.toolCalls ?? [])
        .filter((call) => !answered.has(call.id))
        .map((call) => ({ call, turnId: row.turnId, timestamp: row.timestamp })),
    );
    for (const { call, turnId, timestamp } of open) {
      this.#append(sessionId, {
        role: "tool",
        content: OUTCOME_UNKNOWN,
        toolCallId: call.id,
        toolName: call.name,
        timestamp,
        turnId,
      });
    }
    return open.map(({ call }) => call.id);
  }

  #isTitleTaken(title: string | null, ownId: string | null): boolean {
    return (
      title !== null &&
      [...this.sessions.values()].some((row) => row.title === title && row.id !== ownId)
    );
  }

  #refuseTakenTitle(title: string | null, ownId: string | null): void {
    if (this.#isTitleTaken(title, ownId)) {
      throw new HermesError("TITLE_TAKEN", `another session has the title "${title}"`);
    }
  }

  #hits(rows: readonly StoredMessage[], limit: number, word: string): SearchHit[] {
    const byRoot = new Map<string, SearchHit>();
    for (const row of [...rows].reverse()) {
      const session = this.#session(row.sessionId);
      if (byRoot.has(session.rootId)) continue;
      if (byRoot.size >= limit) break;
      const { id: sessionId, rootId, title, source, model, startedAt } = session;
      const snippet = snippetOf(row.content ?? "", word);
      const { role, id: messageId } = row;
      byRoot.set(rootId, {
        sessionId,
        rootId,
        title,
        source,
        model,
        startedAt,
        role,
        messageId,
        snippet,
      });
    }
    return [...byRoot.values()];
  }

  #usageSince(since: number): UsageEntry[] {
    return this.usage.filter((entry) => entry.at >= since);
  }
}

function isListed(row: SessionRow): boolean {
  return !row.hidden && !HIDDEN_SOURCES.includes(row.source);
}

function newestFirst(rows: readonly SessionRow[]): SessionRow[] {
  return [...rows].sort(
    (a, b) =>
      b.lastActiveAt - a.lastActiveAt || b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1),
  );
}

function snippetOf(text: string, word: string): string {
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  if (word === "" || at < 0) return text.slice(0, 120);
  const end = at + word.length;
  return `${text.slice(Math.max(0, at - 40), at)}>>>${text.slice(at, end)}<<<${text.slice(end, end + 60)}`;
}

function addCost(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}

function sumOf(entries: readonly UsageEntry[]): {
  usage: Usage;
  calls: number;
  sessions: number;
  costUsd: number | null;
} {
  return {
    usage: entries.reduce((sum, entry) => addUsage(sum, entry.usage), NO_USAGE),
    calls: entries.length,
    sessions: new Set(entries.map((entry) => entry.sessionId)).size,
    costUsd: entries.reduce<number | null>((sum, entry) => addCost(sum, entry.costUsd), null),
  };
}
