// Fills a state.db with made-up conversations through the store itself, the same ones each time.
// By hand: node bench/make-messages.ts PATH COUNT
import { join } from "node:path";
import type { NewMessage } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import type { Role } from "#protocol/messages.ts";
import { openStore } from "#store/open.ts";

const MESSAGES_PER_SESSION = 500;
const VOCABULARY = 20_000;
const START = Date.UTC(2026, 0, 1) / 1000;

/** What people type: common and rare words, phrases, beginnings of words, terms with signs, other scripts, no hit at all. */
export const QUERIES: readonly string[] = [
  "deploy",
  "deploy*",
  "de*",
  "d*",
  "deploy the server",
  '"deploy the server"',
  "deploy OR backup",
  "deploy NOT backup",
  "config.yaml",
  "foo-bar",
  "100%",
  "conf*",
  "serv* AND back*",
  "zyxwv",
  "needle",
  "東京",
  "東京タワー",
  "",
];

const COMMON = [
  ..."the a to of and is in that it for you with this on server deploy backup config error file".split(
    " ",
  ),
  ..."config.yaml foo-bar 100% database session message restart container network password".split(
    " ",
  ),
];
const SYLLABLES = "ba co de fi ga ha in jo ka lu me no or pi qua re si ta un ve wi za".split(" ");

/** Mulberry32: small, fast, and the same numbers on every machine. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function makeWords(random: () => number): readonly string[] {
  const made = Array.from({ length: VOCABULARY - COMMON.length }, () => {
    const parts = 2 + Math.floor(random() * 3);
    return Array.from(
      { length: parts },
      () => SYLLABLES[Math.floor(random() * SYLLABLES.length)],
    ).join("");
  });
  return [...COMMON, ...made];
}

/** Words as often as in language: the n-th about 1/n of the time. */
function sentence(words: readonly string[], random: () => number, length: number): string {
  return Array.from(
    { length },
    () => words[Math.floor(words.length ** random()) - 1] ?? words[0],
  ).join(" ");
}

const ROLES: readonly Role[] = ["user", "assistant", "tool", "assistant"];

function makeMessage(index: number, words: readonly string[], random: () => number): NewMessage {
  const role = ROLES[index % ROLES.length] ?? "user";
  let content = sentence(words, random, 8 + Math.floor(random() * (role === "user" ? 20 : 60)));
  if (index % 5000 === 7) content += " needle";
  if (index % 1000 === 9) content += " 東京タワーの天気";
  const toolName = role === "tool" ? "terminal" : null;
  return { role, content, toolName, timestamp: START + index };
}

export async function makeMessages(path: string, count: number): Promise<void> {
  const random = makeRandom(1);
  const words = makeWords(random);
  const store = await openStore({
    path,
    backupsDir: join(path, "..", "backups"),
    journalMode: "wal",
    clock: systemClock,
    log: silentLog,
  });
  for (let first = 0; first < count; first += MESSAGES_PER_SESSION) {
    const id = `20260101_000000_${(first / MESSAGES_PER_SESSION).toString(16).padStart(6, "0")}`;
    await store.createSession({ id, source: "cli", startedAt: START + first });
    const length = Math.min(MESSAGES_PER_SESSION, count - first);
    const messages = Array.from({ length }, (_, n) => makeMessage(first + n, words, random));
    await store.appendMessages(id, messages);
  }
  await store.close();
}

if (import.meta.main) {
  const [path, count] = process.argv.slice(2);
  if (path === undefined || count === undefined) {
    throw new Error("usage: node bench/make-messages.ts PATH COUNT");
  }
  await makeMessages(path, Number(count));
}
