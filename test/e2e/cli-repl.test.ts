// The plain line interface on a real terminal (agent.md §10).
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CliOptions } from "../kit/cli.ts";
import { runCli } from "../kit/cli.ts";
import { answer, call, text } from "../kit/model-reply.ts";
import { startModelServer, type ModelServer, type ScriptStep } from "../kit/model-server.ts";
import { noPty, openTerminal, type Terminal } from "../kit/pty.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const skip = noPty() ?? false;
const WAIT_MS = 60_000;
const TITLE: ScriptStep = {
  when: { systemIncludes: "title" },
  times: Infinity,
  reply: text("A title"),
};

interface Setting {
  readonly server: ModelServer;
  readonly options: CliOptions;
  readonly home: string;
}

async function setUp(t: TestContext, script: readonly ScriptStep[]): Promise<Setting> {
  const server = await startModelServer(t, [...script, TITLE]);
  const home = tempDir(t);
  const config = `model:\n  provider: custom\n  default: scripted\n  base_url: ${server.baseUrl}\n`;
  writeFileSync(join(home, "config.yaml"), config);
  writeFileSync(join(home, ".env"), "SECRET_API_KEY=hunter2-hunter2\n");
  return { server, home, options: { home } };
}

async function see(terminal: Terminal, words: string): Promise<void> {
  await until(`"${words}" on the screen`, () => terminal.shown().includes(words), WAIT_MS).catch(
    (error: unknown) => {
      throw new Error(`not seen: ${words}\n--- screen\n${terminal.shown()}`, { cause: error });
    },
  );
}

test(
  "banner, a streamed answer, slash commands with prefixes, history without secrets, Ctrl-D",
  { skip },
  async (t) => {
    const { home, options } = await setUp(t, [{ reply: text("Hello ", "there.") }]);
    const terminal = openTerminal([], options);
    await see(terminal, "Ctrl-D leaves");
    assert.match(terminal.shown(), /Hermes \d+\.\d+\.\d+ · custom:scripted · profile default/);
    terminal.type("my key is hunter2-hunter2\r");
    await see(terminal, "Hello there.");
    terminal.type("/stat\r");
    await see(terminal, "context ");
    terminal.type("/statsu\r");
    await see(terminal, "Did you mean /status?");
    terminal.type("/s\r");
    await see(terminal, "/s could be");
    terminal.type("\x04");
    assert.equal(await terminal.ended, 0);
    const history = readFileSync(join(home, "cache", "cli_history"), "utf8");
    assert.ok(history.includes("my key is") && !history.includes("hunter2"), history);
    assert.ok(
      terminal.raw().endsWith("\x1b[?2004l") || terminal.raw().includes("\x1b[?2004l"),
      "paste mode is given back",
    );
  },
);

test("an approval is a question; a refused call is not run", { skip }, async (t) => {
  const { server, options } = await setUp(t, [
    { reply: answer(call("terminal", { command: "rm -rf build" })) },
    { reply: text("Then not.") },
  ]);
  const terminal = openTerminal(["-q", "clean up"], options);
  await see(terminal, "1 once");
  assert.match(terminal.shown(), /rm -rf build/);
  terminal.type("9\r");
  terminal.type("4\r");
  await see(terminal, "Then not.");
  assert.match(
    server.requests.find((request) => request.bodyText.includes("Not run"))?.bodyText ?? "",
    /Not run/,
  );
  terminal.type("/quit\r");
  assert.equal(await terminal.ended, 0);
});

test(
  "Ctrl-C: interrupts, clears the line, and twice leaves with 130 where a turn was cut",
  { skip },
  async (t) => {
    const { home, options } = await setUp(t, [
      { reply: answer({ text: "Half of it" }, { hold: "never" }) },
    ]);
    const terminal = openTerminal([], options);
    await see(terminal, "Ctrl-D leaves");
    terminal.type("typed and thrown away\x03");
    terminal.type("go\r");
    await see(terminal, "Half of it");
    terminal.type("\x03");
    await see(terminal, "[interrupted");
    terminal.type("\x03\x03");
    assert.equal(await terminal.ended, 130);
    const shown = await runCli(["sessions", "show", "latest"], { home });
    assert.match(shown.stdout, /## You\n\ngo\n/);
    assert.match(shown.stdout, /interrupted[\s\S]*Half of it/);
  },
);

test(
  "a paste of several lines is one message; the terminal's end ends the program",
  { skip },
  async (t) => {
    const { server, options } = await setUp(t, [{ reply: text("Read.") }]);
    const terminal = openTerminal([], options);
    await see(terminal, "Ctrl-D leaves");
    terminal.type("\x1b[200~line one\rline two\x1b[201~");
    terminal.type("\r");
    await see(terminal, "Read.");
    assert.equal(server.requests[0]?.lastUserText, "line one\nline two");
    terminal.type("/quit\r");
    assert.equal(await terminal.ended, 0);
  },
);

test("resume shows what was said; !CMD runs without the model", { skip }, async (t) => {
  const { home, options } = await setUp(t, [{ reply: text("The first answer.") }]);
  assert.equal((await runCli(["chat", "-q", "The first question"], { ...options, home })).code, 0);
  const terminal = openTerminal(["-c"], options);
  await see(terminal, "The first answer.");
  assert.match(terminal.shown(), /› The first question/);
  terminal.type("!echo $((40 + 2))\r");
  await see(terminal, "\n42\n");
  terminal.type("!rm -rf /\r");
  await see(terminal, "Not run");
  terminal.type("/quit\r");
  assert.equal(await terminal.ended, 0);
});

test("no model configured: the line interface says so and ends with 78", { skip }, async (t) => {
  const home = tempDir(t);
  const terminal = openTerminal([], { home });
  assert.equal(await terminal.ended, 78);
  assert.match(terminal.shown(), /No model is configured/);
});
