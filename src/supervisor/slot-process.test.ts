// The process's side of its slot (container.md §6.2, §6.3, §6.4).
import assert from "node:assert/strict";
import { existsSync, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HermesError, type HermesErrorOptions } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { asksLive } from "./live.ts";
import { openSlotProcess, type SlotProcess } from "./slot-process.ts";

interface Opened {
  readonly slot: SlotProcess;
  readonly dir: string;
  readonly readyFd: number;
  /** What came through the readiness descriptor. */
  told(): string;
  data(name: string): string;
}

async function open(t: TestContext, uid: number | null = 10_000): Promise<Opened> {
  const dir = tempDir(t);
  mkdirSync(join(dir, "data"));
  const told = join(dir, "told");
  const readyFd = openSync(told, "w");
  const slot = await openSlotProcess({ name: "gateway-a", dir, home: "/home/a", readyFd, uid });
  t.after(() => slot.close());
  return {
    slot,
    dir,
    readyFd,
    told: () => readFileSync(told, "utf8"),
    data: (name) => readFileSync(join(dir, "data", name), "utf8"),
  };
}

test("root runs in no slot, and leaves no trace there", async (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, "data"));
  const options = { name: "gateway-a", dir, home: "/home/a", readyFd: 3, uid: 0 };
  await assert.rejects(openSlotProcess(options), { code: "SLOT_ROOT", exit: EXIT.refused });
  assert.equal(existsSync(join(dir, "data", "identity.json")), false);
});

test("identity comes first, readiness once it is said", async (t) => {
  const { slot, dir, readyFd, told, data } = await open(t);
  assert.equal((JSON.parse(data("identity.json")) as { pid: number }).pid, process.pid);
  assert.equal(told(), "");
  assert.equal(await asksLive(dir), false);
  writeFileSync(join(dir, "data", "last_error.json"), "{}");
  await slot.ready();
  assert.equal(told(), "\n");
  assert.throws(() => fstatSync(readyFd), { code: "EBADF" });
  assert.equal(await asksLive(dir), true);
  assert.equal(existsSync(join(dir, "data", "last_error.json")), false);
  await slot.ready();
  assert.equal(told(), "\n");
  slot.close();
  assert.equal(await asksLive(dir), false);
});

type Recorded = Readonly<Record<"message" | "ways_out" | "setting", unknown>>;

const problem = (message: string, fix: string | null): never =>
  ({ code: "X", level: "error", setting: null, message, fix }) as never;

const REFUSALS: readonly (readonly [message: string, options: HermesErrorOptions, Recorded])[] = [
  ["No.", {}, { message: "No.", ways_out: [], setting: null }],
  [
    "No.",
    { fix: "Do this.\nOr that.", setting: "model.provider" },
    { message: "No.", ways_out: ["Do this.", "Or that."], setting: "model.provider" },
  ],
  [
    "Two are wrong.",
    { problems: [problem("A is bad.", "Fix A."), problem("B is bad.", null)] },
    { message: "Two are wrong. A is bad. B is bad.", ways_out: ["Fix A."], setting: null },
  ],
  [
    "A is bad.",
    { fix: "Fix A.", problems: [problem("A is bad.", "Fix A.")] },
    { message: "A is bad.", ways_out: ["Fix A."], setting: null },
  ],
  [
    "No provider.",
    { fix: "ignored", data: { ways_out: ["One.", 2, "Two."] } },
    { message: "No provider.", ways_out: ["One.", "Two."], setting: null },
  ],
];

for (const [message, options, recorded] of REFUSALS) {
  test(`a refusal with ${Object.keys(options).join(", ") || "a sentence only"} is kept`, async (t) => {
    const { slot, data } = await open(t);
    slot.refuse(new HermesError("CODE", message, options));
    const { code, at, pid, ...rest } = JSON.parse(data("last_error.json")) as Record<
      string,
      unknown
    >;
    assert.deepEqual(rest, recorded);
    assert.deepEqual([code, pid], ["CODE", process.pid]);
    assert.ok(Math.abs(Date.parse(String(at)) - Date.now()) < 60_000);
  });
}

test("a refusal that cannot be written is no crash", (t) =>
  open(t).then(({ slot, dir }) => {
    mkdirSync(join(dir, "data", "last_error.json"));
    slot.refuse(new HermesError("CODE", "No."));
  }));
