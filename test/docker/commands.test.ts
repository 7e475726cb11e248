// How the container is started: words, exit codes, signals, terminal (container.md §14, rows 1–6, 39–44, 63).
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  docker,
  dockerExec,
  exitCode,
  IMAGE,
  logs,
  noEngine,
  ptyRun,
  removeAll,
  runOnce,
  sh,
  signal,
  startContainer,
  stop,
  waitFor,
  waitReady,
} from "../kit/docker.ts";

suite("container: commands", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("1: no arguments and no terminal: a hint on stderr, 64, nothing on stdout", async () => {
    const end = await runOnce({ opts: ["--network=none"] });
    assert.deepEqual([end.code, end.stdout], [64, ""]);
    assert.match(end.stderr, /hermes chat -q/u);
    assert.doesNotMatch(end.stderr, /\n\s+at /u);
  });

  test("1, 63: --version is 0 and leaves a new volume as it was", async (t) => {
    const { volume } = await import("../kit/docker.ts");
    const name = await volume(t);
    const end = await runOnce({ opts: ["-v", `${name}:/opt/data`], args: ["--version"] });
    assert.equal(end.code, 0);
    assert.match(end.stdout, /^hermes \d+\.\d+\.\d+ /u);
    // Root, to see the volume whatever its owner.
    const seen = await docker([
      "run",
      "--rm",
      "--entrypoint",
      "ls",
      "-v",
      `${name}:/v`,
      IMAGE,
      "-A",
      "/v",
    ]);
    assert.equal(seen.stdout, "");
  });

  test("2: chat passes through: its help, and an answer of the demo model on stdout alone", async () => {
    const help = await runOnce({ args: ["chat", "--help"] });
    assert.equal(help.code, 0);
    assert.match(help.stdout, /hermes chat/u);
    for (const env of [{}, { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" }]) {
      // INSECURE: the gate is not what this test is about.
      const answer = await runOnce({ env, args: ["chat", "--provider", "demo", "-q", "hi"] });
      assert.equal(answer.code, 0, answer.stderr);
      assert.match(answer.stdout, /demo/iu);
      assert.doesNotMatch(answer.stdout, /\[(?:boot|dashboard|gateway)/u);
    }
  });

  test("3: a bare executable runs", async () => {
    const end = await runOnce({ args: ["sleep", "1"] });
    assert.equal(end.code, 0);
    assert.ok(end.ms >= 1000);
  });

  const CODES: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ["bash", ["bash", "-c", "echo ok"], 0, /^ok$/mu],
    ["its own code", ["sh", "-c", "exit 42"], 42, /^$/u],
    ["killed by KILL", ["sh", "-c", "kill -9 $$"], 137, /^$/u],
    ["a path that is no program", ["/etc/passwd"], 126, /^$/u],
    ["a path that is not there", ["/nope"], 127, /^$/u],
    ["neither command nor program", ["nosuch"], 64, /^$/u],
    ["a builtin of the shell is no program", ["cd"], 64, /^$/u],
    ["status is ours", ["status"], 0, /^version/mu],
    ["init and entry points fall away", ["/init", "sh", "-c", "exit 5"], 5, /^$/u],
    ["a known command with a wrong option", ["chat", "--nosuch"], 64, /^$/u],
  ];
  for (const [what, args, code, stdout] of CODES) {
    test(`4, 5, 42: ${what}: ${code}`, async () => {
      const end = await runOnce({ args });
      assert.equal(end.code, code, end.stderr);
      assert.match(end.stdout, stdout);
    });
  }

  test("5: the code passes with slots running, too", async () => {
    const env = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };
    assert.equal((await runOnce({ env, args: ["sh", "-c", "exit 42"] })).code, 42);
  });

  test("42: a command of ours wins over a program of that name", async () => {
    const end = await runOnce({
      args: [
        "sh",
        "-c",
        "mkdir -p ~/.local/bin && printf '#!/bin/sh\\necho foreign\\n' >~/.local/bin/status && chmod +x ~/.local/bin/status && hermes container route -- status",
      ],
    });
    assert.match(end.stdout, /"kind":"hermes","argv":\["hermes","status"\]/u);
  });

  test("41: stdin, and every word byte for byte", async () => {
    assert.equal((await runOnce({ args: ["cat"] }, "hi\n")).stdout, "hi\n");
    const words = ["", "a b", `'"\\$(x)`, "line\nbreak", "ünï", "-n", "*"];
    const end = await runOnce({
      args: ["sh", "-c", 'for w; do printf "<%s>\\n" "$w"; done', "sh", ...words],
    });
    assert.equal(end.stdout, words.map((word) => `<${word}>\n`).join(""));
  });

  test("41: -w is the command's directory", async () => {
    assert.equal((await runOnce({ opts: ["-w", "/tmp"], args: ["pwd"] })).stdout, "/tmp\n");
  });

  test("29: the environment reaches the command; HOME and HERMES_HOME are set; nothing grows in .hermes", async () => {
    const end = await runOnce({
      env: { FOO: "bar" },
      args: ["sh", "-c", "echo $FOO $HOME $HERMES_HOME $(id -un); ls -d /opt/data/.hermes"],
    });
    assert.match(end.stdout, /^bar \/opt\/data \/opt\/data hermes$/mu);
    assert.doesNotMatch(end.stdout, /\.hermes$/mu);
  });

  test("4, 6: a terminal: size, job control, exit code", async (t) => {
    const { code, output } = await ptyRun(t, { args: ["bash", "--norc"] }, [
      { when: /\$ $/u, type: "test -t 1 && tput cols; sh -c 'printf as%s leep; exec sleep 30'\r" },
      { when: /100\s+asleep/u, type: "\x1a" },
      { when: /Stopped/u, type: "jobs\r" },
      { when: /Stopped/u, type: "kill -9 %1; disown %1; exit 4\r" },
    ]);
    assert.equal(code, 4, output);
  });

  test("40: Ctrl-C ends the program with 130, Ctrl-\\ with 131", async (t) => {
    for (const [key, code] of [
      ["\x03", 130],
      ["\x1c", 131],
    ] as const) {
      const end = await ptyRun(t, { args: ["sh", "-c", "echo go; exec sleep 30"] }, [
        { when: /go/u, type: key },
      ]);
      assert.equal(end.code, code, end.output);
    }
  });

  test("39: INT is 130, QUIT 131; HUP and USR1 reach traps", async (t) => {
    for (const [name, code] of [
      ["INT", 130],
      ["QUIT", 131],
    ] as const) {
      const c = await startContainer(t, { args: ["sh", "-c", "echo up; exec sleep 30"] });
      await waitFor(c, "the program", async () => (await logs(c)).includes("up"));
      await signal(c, name);
      assert.equal(await exitCode(c), code, name);
    }
    const c = await startContainer(t, {
      args: [
        "sh",
        "-c",
        "trap 'echo got HUP' HUP; trap 'echo got USR1' USR1; trap 'exit 3' TERM; echo up; while :; do sleep 0.1; done",
      ],
    });
    await waitFor(c, "the program", async () => (await logs(c)).includes("up"));
    for (const name of ["HUP", "USR1"]) {
      await signal(c, name);
      await waitFor(c, `the trap of ${name}`, async () => (await logs(c)).includes(`got ${name}`));
    }
    assert.equal((await stop(c)).code, 3);
  });

  const STOPS: readonly (readonly [string, readonly string[], number])[] = [
    ["a program without a handler", ["sleep", "300"], 6000],
    ["one that ignores TERM", ["sh", "-c", "trap '' TERM; while :; do sleep 0.2; done"], 9500],
  ];
  for (const [what, args, limitMs] of STOPS) {
    test(`38: docker stop of ${what}: 143, not 137`, async (t) => {
      const c = await startContainer(t, { args });
      const { ms, code } = await stop(c);
      assert.equal(code, 143);
      assert.ok(ms < limitMs, `${ms}`);
    });
  }

  test("38: docker stop of an interactive shell, which ignores TERM: 143, long before KILL", async (t) => {
    const c = await startContainer(t, { opts: ["-i", "-t"], args: ["bash"] });
    const { ms, code } = await stop(c);
    assert.equal(code, 143);
    assert.ok(ms < 8000, `${ms}`);
  });

  test("38: docker stop during setup: 143, long before KILL", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"], waits: false });
    const { ms, code } = await stop(c);
    assert.equal(code, 143);
    assert.ok(ms < 8000, `${ms}`);
  });

  test("20: five double forks leave no zombie", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    await sh(c, "for i in 1 2 3 4 5; do (sh -c '(sleep 0.2 &) ; exit 0' &); done");
    await waitFor(
      c,
      "every sleeper to be gone and reaped",
      async () => {
        const table = await sh(c, "ps -eo stat=,comm= | grep -v ps");
        return !/^Z/mu.test(table) && !/sleep$/mu.test(table.replace(/^.*sleep$/mu, ""));
      },
      5000,
    );
  });

  test("43: behind another init: one warning, the answer, exit codes", async (t) => {
    const version = await runOnce({ opts: ["--init"], args: ["--version"] });
    assert.equal(version.code, 0);
    assert.equal(
      version.stderr.split("\n").filter((line) => line !== "").length,
      1,
      version.stderr,
    );
    assert.match(version.stderr, /nothing is supervised/u);
    const c = await startContainer(t, {
      opts: ["--init"],
      env: { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" },
      args: ["supervise"],
    });
    await waitReady(c, "dashboard");
    assert.deepEqual((await stop(c)).code, 0);
    const gateway = await startContainer(t, {
      opts: ["--init"],
      args: ["gateway", "run"],
      waits: false,
    });
    await waitFor(gateway, "the gateway in the foreground", async () =>
      (await sh(gateway, "cat /opt/data/gateway_state.json")).includes('"running"'),
    );
    assert.equal((await stop(gateway)).code, 0);
    assert.match(await logs(gateway), /nothing is supervised/u);
  });

  test("44: tini and the old entry point work as /init", async () => {
    const tini = await docker([
      "run",
      "--rm",
      "--entrypoint",
      "/usr/bin/tini",
      IMAGE,
      "-g",
      "--",
      "hermes",
      "--version",
    ]);
    assert.deepEqual([tini.code, tini.stdout.startsWith("hermes ")], [0, true]);
    const entry = await docker([
      "run",
      "--rm",
      "--entrypoint",
      "/opt/hermes/docker/entrypoint.sh",
      IMAGE,
      "sh",
      "-c",
      "exit 9",
    ]);
    assert.equal(entry.code, 9);
  });

  test("28: this harness runs as hermes", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    assert.equal((await dockerExec(c, ["id", "-un"])).stdout.trim(), "hermes");
  });
});
