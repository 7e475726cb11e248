// What a program does with the container's terminal (container.md §2.3, §14 rows 38, 40 and 53).
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import {
  logs,
  noEngine,
  ptyRun,
  removeAll,
  sh,
  startContainer,
  stop,
  waitFor,
  waitReady,
} from "../kit/docker.ts";

/** The gate is not what these tests are about: slots run, whose loggers could harm the terminal. */
const OPEN = { HERMES_DASHBOARD: "1", HERMES_DASHBOARD_INSECURE: "1" };

suite("container: terminal", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("40: a new size reaches the program", async (t) => {
    // The client of the engine sets its first size more than once: only the new one counts.
    const script =
      "trap '[ $(tput cols) = 133 ] && tput cols && exit 6' WINCH; tput cols; while :; do sleep 0.1; done";
    const { code, output } = await ptyRun(t, { args: ["bash", "-c", script] }, [
      { when: /100\s/u, type: { rows: 40, columns: 133 } },
    ]);
    assert.equal(code, 6, output);
    assert.match(output, /133\s/u);
  });

  test("6: --tui draws its first frame, answers, and gives the terminal back", async (t) => {
    const script = "hermes model --demo && hermes --tui; echo code $?; stty -a | grep -o ' icanon'";
    const { code, output } = await ptyRun(t, { args: ["sh", "-c", script] }, [
      { when: /DEMO[^]*ready/u, type: "hello there\r" },
      { when: /You said: hello there/u, type: "\x04" },
    ]);
    assert.equal(code, 0, output);
    assert.match(output, /code 0\s+icanon/u);
  });

  test("6: the whole command is --tui", async (t) => {
    const { code, output } = await ptyRun(t, { args: ["--tui"] }, [
      { when: /Hermes \d+\.\d+\.\d+[^]*›/u, type: "" },
    ]);
    // Of an empty volume: what to do is said on the terminal that the frame has left.
    assert.equal(code, 78, output);
    assert.match(output, /No model is configured[^]*hermes model --demo/u);
  });

  test("40: raw mode: every byte arrives as it was typed", async (t) => {
    const script =
      "stty raw -echo; echo g''o; dd bs=1 count=4 status=none | od -An -tx1; stty sane; exit 5";
    const { code, output } = await ptyRun(t, { args: ["sh", "-c", script] }, [
      { when: /go/u, type: "\x03\x1a\x04\x1c" },
    ]);
    assert.equal(code, 5, output);
    assert.match(output, /03 1a 04 1c/u);
  });

  test("40, 53: cat echoes long after the slots are up, and no log line is on the terminal", async (t) => {
    const script = `until [ "$(/command/s6-svstat -o ready /run/service/dashboard)" = true ]; do sleep 0.1; done; sleep 2; echo g''o; exec cat`;
    const { code, output } = await ptyRun(t, { env: OPEN, args: ["sh", "-c", script] }, [
      { when: /go/u, type: "first\r" },
      { when: /first\s+first/u, type: "second\r" },
      { when: /second\s+second/u, type: "\x04" },
    ]);
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, /\[(?:dashboard|boot)|Web UI/u);
  });

  test("40: /dev/tty opens, and the terminal belongs to hermes", async (t) => {
    const script = `echo t''ty >/dev/tty && stat -c %U "$(tty)" && exit 7`;
    const { code, output } = await ptyRun(t, { args: ["sh", "-c", script] }, []);
    assert.equal(code, 7, output);
    assert.match(output, /tty\s+hermes/u);
  });

  test("38: docker stop of a program that was stopped (Ctrl-Z): 143 at once", async (t) => {
    const c = await startContainer(t, { opts: ["-i", "-t"], args: ["sleep", "300"] });
    await sh(c, "pkill -TSTP -x sleep; pkill -STOP -x sleep");
    await waitFor(c, "sleep to be stopped", async () =>
      (await sh(c, "ps -o stat= -C sleep")).startsWith("T"),
    );
    const { ms, code } = await stop(c);
    assert.equal(code, 143);
    assert.ok(ms < 8000, `${ms}`);
  });

  test("a detached terminal: slots run, their lines stay in the files", async (t) => {
    const c = await startContainer(t, { opts: ["-i", "-t"], env: OPEN, args: ["sleep", "300"] });
    await waitReady(c, "dashboard");
    assert.match(await sh(c, "cat /opt/data/logs/dashboard/current"), /Web UI/u);
    assert.doesNotMatch(await logs(c), /Web UI/u);
  });
});
