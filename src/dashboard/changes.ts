// Server events: "something of this topic changed, fetch it again" (dashboard.md §9.2). Other processes' changes are seen by
// asking the store's change token once a second, only while somebody watches.
import { statSync } from "node:fs";
import type { Clock, Timer } from "#base/clock.ts";
import type { ServerEvent, Topic } from "#protocol/socket.ts";
import type { ProfileServices } from "./deps.ts";

const POLL_MS = 1000;

export interface Changes {
  publish(topic: Topic, profile: string): void;
  /** Returns the way to stop. */
  watch(topics: ReadonlySet<Topic>, listener: (event: ServerEvent) => void): () => void;
  close(): void;
  readonly watchers: number;
}

export function createChanges(clock: Clock, opened: () => readonly ProfileServices[]): Changes {
  const listeners = new Set<{
    readonly topics: ReadonlySet<Topic>;
    readonly listener: (event: ServerEvent) => void;
  }>();
  const seen = new Map<string, string>();
  let timer: Timer | null = null;

  const publish = (topic: Topic, profile: string): void => {
    const at = new Date(clock.now()).toISOString();
    for (const { topics, listener } of listeners) {
      if (topics.has(topic)) listener({ type: "change", topic, profile, at });
    }
  };
  const note = (topic: Topic, profile: string, token: string): void => {
    const key = `${topic} ${profile}`;
    const before = seen.get(key);
    seen.set(key, token);
    if (before !== undefined && before !== token) publish(topic, profile);
  };
  const look = async (): Promise<void> => {
    for (const profile of opened()) {
      note("config", profile.name, configToken(profile));
      note("sessions", profile.name, await profile.archive.changeToken());
    }
  };
  const tick = (): void => {
    timer = null;
    const again = (): void => {
      if (listeners.size > 0) timer ??= clock.after(POLL_MS, tick);
    };
    look().then(again, again);
  };

  return {
    publish,
    watch(topics, listener) {
      const entry = { topics, listener };
      listeners.add(entry);
      timer ??= clock.after(POLL_MS, tick);
      return () => void listeners.delete(entry);
    },
    close() {
      listeners.clear();
      timer?.cancel();
    },
    get watchers() {
      return listeners.size;
    },
  };
}

function configToken({ home }: ProfileServices): string {
  return ["config.yaml", ".env"]
    .map((name) => statSync(`${home}/${name}`, { throwIfNoEntry: false }))
    .map((stat) => (stat ? `${stat.mtimeMs}:${stat.size}` : "-"))
    .join(" ");
}
