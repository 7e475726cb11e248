// The Ink interface in a real terminal emulator (agent.md §10): what a person sees and what the keys do.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { environment, PROJECT } from "../kit/cli.ts";
import { answer, call, text } from "../kit/model-reply.ts";
import { startModelServer, type ModelServer, type ScriptStep } from "../kit/model-server.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { noTmux, Tmux } from "../kit/tmux.ts";
import { until } from "../kit/until.ts";

const OPTIONS = { skip: noTmux() ?? false, timeout: 120_000 };
const TITLE: ScriptStep = {
  when: { systemIncludes: "title" },
  times: Infinity,
  reply: text("A title"),
};
let program = "";

/** The interface is JSX, which Node does not read: the program as it ships, built from what is here. */
before(() => {
  if (noTmux() !== null) return;
  program = mkdtempSync(join(tmpdir(), "hermes-program-"));
  process.once("exit", () => rmSync(program, { recursive: true, force: true }));
  mkdirSync(join(program, "bin"));
  for (const name of ["package.json", "LICENSE", join("bin", "hermes.mjs")]) {
    cpSync(join(PROJECT, name), join(program, name));
  }
  const script = join(PROJECT, "scripts", "build.ts");
  const words = [script, "--no-web", "--out", join(program, "dist")];
  const built = spawnSync(process.execPath, words, { encoding: "utf8" });
  assert.equal(built.status, 0, built.stderr);
});

interface Opened {
  readonly tmux: Tmux;
  readonly server: ModelServer;
  readonly home: string;
}

interface Options {
  readonly columns?: number;
  readonly rows?: number;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function open(
  t: TestContext,
  script: readonly ScriptStep[],
  { words = [], env = {}, ...size }: Options = {},
): Promise<Opened> {
  const server = await startModelServer(t, [TITLE, ...script]);
  const home = tempDir(t);
  const config = `model:\n  provider: custom\n  default: scripted\n  base_url: ${server.baseUrl}\n`;
  writeFileSync(join(home, "config.yaml"), config);
  return { tmux: start(t, home, ["--tui", ...words], { ...size, env }), server, home };
}

function start(
  t: TestContext,
  home: string,
  words: readonly string[],
  { env = {}, ...size }: Options = {},
): Tmux {
  return new Tmux(t, [process.execPath, join(program, "bin", "hermes.mjs"), ...words], {
    ...size,
    cwd: home,
    env: { ...environment({ home, env }), TERM: "xterm-256color" },
  });
}

const userTexts = (server: ModelServer): readonly string[] =>
  server.requests
    .filter(({ toolNames }) => toolNames.length > 0)
    .map(({ lastUserText }) => lastUserText);

test(
  "the first frame, what was typed before the agent was ready, a streamed answer, Ctrl-D",
  OPTIONS,
  async (t) => {
    const { tmux, server } = await open(t, [
      { reply: answer({ text: "Half of " }, { hold: "rest" }, { text: "the answer." }) },
    ]);
    await tmux.see("Hermes ");
    // The frame is there, the conversation perhaps not yet: nothing typed is lost.
    tmux.type("hello there");
    tmux.keys("Enter");
    await tmux.see("› hello there");
    await tmux.see("Half of");
    await tmux.see(/Ctrl-C interrupts/u);
    server.release("rest");
    await tmux.see("Half of the answer.");
    await tmux.see(/scripted · default .*ready/u);
    assert.deepEqual(userTexts(server), ["hello there"]);
    tmux.keys("C-d");
    assert.equal(await tmux.code(), 0);
    assert.match(tmux.everything(), /Half of the answer\./u);
  },
);

test(
  "an approval: the whole command, nothing marked at first, Esc denies nothing, a number and Enter answer",
  OPTIONS,
  async (t) => {
    const { tmux, server, home } = await open(t, [
      { reply: answer(call("terminal", { command: "rm -rf ./first" })) },
      { reply: answer(call("terminal", { command: "rm -rf ./second" })) },
      { reply: text("Both are done.") },
    ]);
    mkdirSync(join(home, "first"));
    mkdirSync(join(home, "second"));
    await tmux.see("ready");
    tmux.type("clean up");
    tmux.keys("Enter");
    await tmux.see("1 once");
    assert.match(tmux.screen(), /rm -rf \.\/first/u);
    // Nothing is marked: Enter alone answers nothing.
    tmux.keys("Enter");
    tmux.keys("Escape");
    await until("the box is closed", () => !tmux.screen().includes("1 once"));
    assert.ok(existsSync(join(home, "first")));
    tmux.keys("Enter");
    await tmux.see("1 once");
    tmux.keys("4", "Enter");
    await tmux.see("rm -rf ./second");
    await tmux.see("1 once");
    assert.ok(existsSync(join(home, "first")), "denied");
    tmux.keys("1", "Enter");
    await tmux.see("Both are done.");
    assert.equal(existsSync(join(home, "second")), false);
    assert.ok(existsSync(join(home, "first")));
    assert.match(tmux.everything(), /denied .*by tui[^]*allowed \(once\) by tui/u);
    server.assertDone();
  },
);

test(
  "Ctrl-C: interrupts what runs, clears what is typed, hints on an empty line, twice leaves",
  OPTIONS,
  async (t) => {
    const { tmux } = await open(t, [{ reply: answer({ text: "Never " }, { stall: true }) }]);
    await tmux.see("ready");
    tmux.type("go");
    tmux.keys("Enter");
    await tmux.see("Never");
    tmux.keys("C-c");
    await tmux.see(/scripted · default .*ready/u);
    assert.match(tmux.screen(), /interrupted|stopped/iu);
    // Typing in between makes it no second press: the text is cleared, and nobody leaves.
    tmux.type("draft");
    await tmux.see("› draft");
    tmux.keys("C-c");
    await until("the text is cleared", () => !tmux.screen().includes("draft"));
    tmux.keys("C-c");
    await tmux.see("Press Ctrl-C again to leave.");
    tmux.keys("C-c");
    assert.equal(await tmux.code(), 0);
  },
);

test("twice at once while something runs: 130, and the turn is over", OPTIONS, async (t) => {
  const { tmux } = await open(t, [{ reply: answer({ text: "Never " }, { stall: true }) }]);
  await tmux.see("ready");
  tmux.type("go");
  tmux.keys("Enter");
  await tmux.see("Never");
  tmux.keys("C-c", "C-c");
  assert.equal(await tmux.code(), 130);
});

test("sizes: whole at 40 by 10, one line below that, and back", OPTIONS, async (t) => {
  const { tmux } = await open(t, [
    { reply: answer(call("terminal", { command: `rm -rf ./${"long-".repeat(12)}name` })) },
    { reply: text("Fine.") },
  ]);
  await tmux.see("ready");
  tmux.type("go");
  tmux.keys("Enter");
  await tmux.see("1 once");
  tmux.resize(40, 10);
  await until("the box fits", () => {
    const rows = tmux.screen().trimEnd().split("\n");
    return (
      rows.length <= 10 &&
      rows.some((row) => row.startsWith("1 once")) &&
      rows.every((row) => row.length <= 40)
    );
  });
  assert.match(tmux.screen(), /4 deny/u);
  assert.match(tmux.screen(), /rm -rf/u);
  tmux.resize(30, 8);
  await tmux.see("too small");
  tmux.resize(100, 30);
  await tmux.see("1 once");
  tmux.keys("4", "Enter");
  await tmux.see("Fine.");
});

test(
  "history, completion, many lines, and the picker of older conversations",
  OPTIONS,
  async (t) => {
    const { tmux, server, home } = await open(t, [
      { reply: text("One.") },
      { reply: text("Two.") },
    ]);
    await tmux.see("ready");
    tmux.type("first words");
    tmux.keys("Enter");
    await tmux.see("One.");
    tmux.type("/stat");
    tmux.keys("Tab");
    await tmux.see("› /status");
    tmux.keys("C-u", "Up");
    await tmux.see(/› first words\s*\n.*ready/u);
    tmux.keys("C-u");
    tmux.paste("line one\nline two\tx\nline three");
    await tmux.see("line three");
    assert.equal(userTexts(server).length, 1, "a paste sends nothing");
    tmux.keys("M-Enter");
    tmux.type("line four");
    tmux.keys("Enter");
    await tmux.see("Two.");
    assert.equal(userTexts(server)[1], "line one\nline two\tx\nline three\nline four");
    tmux.keys("C-d");
    assert.equal(await tmux.code(), 0);
    const again = start(t, home, ["--tui"]);
    await again.see("ready");
    again.type("/resume");
    again.keys("Enter");
    await again.see("A title");
    again.keys("Enter");
    await again.see("Two.");
    again.keys("C-d");
    assert.equal(await again.code(), 0);
  },
);

test("what a model or a tool writes does nothing to the terminal", OPTIONS, async (t) => {
  const attack = "\x1b]0;owned\x07\x1b[2J\x1b[1;1Howned\x1b[?1049h\x9b31mred\u202egnp.exe\r\b";
  const { tmux } = await open(t, [
    { reply: text(`before ${attack} after`) },
    { reply: answer(call("terminal", { command: `printf '\\033]0;owned\\007\\033[2Jtool'` })) },
    { reply: text("Wide: 漢字漢字 e\u0301 👩‍👩‍👧 end.") },
  ]);
  await tmux.see("ready");
  const title = tmux.ask("#{pane_title}");
  tmux.type("go");
  tmux.keys("Enter");
  await tmux.see(/before[^]*after/u);
  await tmux.see("ready");
  tmux.type("tool");
  tmux.keys("Enter");
  await tmux.see(/Wide: 漢字漢字 .* end\./u);
  assert.equal(tmux.ask("#{pane_title}"), title);
  assert.equal(tmux.ask("#{alternate_on}"), "0");
  assert.match(tmux.everything(), /› go[^]*before[^]*› tool/u);
  assert.doesNotMatch(tmux.everything(), /\u202e/u);
});

test(
  "a tool that writes a megabyte: the screen stays small, and typing goes on",
  OPTIONS,
  async (t) => {
    const { tmux } = await open(t, [
      { reply: answer(call("terminal", { command: "seq 1 150000; sleep 1" })) },
      { reply: text("Counted.") },
    ]);
    await tmux.see("ready");
    tmux.type("count");
    tmux.keys("Enter");
    tmux.type("typed meanwhile");
    await tmux.see("› typed meanwhile");
    await tmux.see("Counted.");
    await tmux.see("› typed meanwhile");
    const rows = Number(tmux.ask("#{history_size}"));
    assert.ok(rows < 300, `${rows} rows of history`);
  },
);

test("TERM, and Ctrl-Z with fg, leave a terminal that works", OPTIONS, async (t) => {
  const { home } = await open(t, []);
  const hermes = `${process.execPath} ${join(program, "bin", "hermes.mjs")} --tui`;
  const tmux = new Tmux(t, ["bash", "--norc", "-i"], {
    cwd: home,
    env: { ...environment({ home }), TERM: "xterm-256color" },
  });
  tmux.type(hermes);
  tmux.keys("Enter");
  await tmux.see("ready");
  tmux.keys("C-z");
  await tmux.see("Stopped");
  tmux.type("echo shell-$((40+2))");
  tmux.keys("Enter");
  await tmux.see("shell-42");
  tmux.type("fg");
  tmux.keys("Enter");
  await tmux.see("ready");
  tmux.type("still here");
  await tmux.see("› still here");
  spawnSync("pkill", ["-TERM", "-f", "--", join(program, "bin", "hermes.mjs")]);
  await tmux.see(/[#$]\s*$/u);
  tmux.type("stty -a | grep -o ' icanon'; echo code-$?");
  tmux.keys("Enter");
  await tmux.see("code-0");
  assert.equal(tmux.ask("#{cursor_flag}"), "1");
});

test("a terminal too plain for it, and none at all", OPTIONS, async (t) => {
  const { tmux, home } = await open(t, []);
  await tmux.see("ready");
  // tmux names its own terminal to the programs in it.
  const words = ["env", "TERM=dumb", process.execPath, join(program, "bin", "hermes.mjs"), "--tui"];
  const plain = new Tmux(t, words, { cwd: home, env: environment({ home }) });
  await plain.see("TERM=dumb");
  await plain.see("Ctrl-D leaves");
  const none = spawnSync(process.execPath, [join(program, "bin", "hermes.mjs"), "--tui"], {
    cwd: home,
    env: environment({ home }),
    input: "",
    encoding: "utf8",
  });
  assert.equal(none.status, 64);
  assert.match(none.stderr, /terminal/u);
  assert.equal(none.stdout, "");
});
