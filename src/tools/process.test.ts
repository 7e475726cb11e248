// Background processes: following, writing, ending; none outlives its session (agent.md §5.1).
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { toolBench, type ToolBench } from "../../test/kit/tool-box.ts";
import { until } from "../../test/kit/until.ts";

async function start(bench: ToolBench, command: string, more = {}): Promise<string> {
  const { json } = await bench.run("terminal", { command, background: true, ...more });
  assert.equal(typeof json.pid, "number");
  return json.process_id;
}

const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

void test("poll gives new output once, log gives lines, wait waits", async (t) => {
  const bench = toolBench(t);
  const id = await start(bench, "echo one; read line; echo got $line; exit 4");
  const first = await until("the first line", async () => {
    const { json } = await bench.run("process", { action: "poll", process_id: id });
    return json.output === "" ? null : json;
  });
  assert.deepEqual(first, { state: "running", output: "one\n" });
  await bench.run("process", { action: "write", process_id: id, data: "hello\n" });
  const done = await bench.run("process", { action: "wait", process_id: id, timeout: 10 });
  assert.equal(done.json.state, "exited");
  assert.equal(done.json.exit_code, 4);
  const log = await bench.run("process", { action: "log", process_id: id });
  assert.equal(log.json.output, "one\ngot hello");
  assert.equal(log.json.total_lines, 2);
  const part = await bench.run("process", { action: "log", process_id: id, offset: 1, limit: 1 });
  assert.equal(part.json.output, "got hello");
  const late = await bench.run("process", { action: "write", process_id: id, data: "x" });
  assert.equal(late.code, "PROCESS_ENDED");
});

void test("wait ends at its limit and at an interrupt, the process goes on", async (t) => {
  const bench = toolBench(t);
  const id = await start(bench, "sleep 60");
  const limited = await bench.run("process", { action: "wait", process_id: id, timeout: 1 });
  assert.equal(limited.json.state, "running");
  const stop = new AbortController();
  const waiting = bench.run(
    "process",
    { action: "wait", process_id: id, timeout: 600 },
    { signal: stop.signal },
  );
  stop.abort();
  assert.equal((await waiting).json.state, "running");
  const killed = await bench.run("process", { action: "kill", process_id: id });
  assert.equal(killed.json.state, "killed");
});

void test("at most sixteen run at once; all are gone after close, those in their own session too", async (t) => {
  const bench = toolBench(t);
  const pids: number[] = [];
  for (let i = 0; i < 16; i++) {
    const command = i === 0 ? "setsid sleep 65.0005 & sleep 65.0005" : "sleep 65.0005";
    const { json } = await bench.run("terminal", { command, background: true });
    pids.push(json.pid);
  }
  const more = await bench.run("terminal", { command: "sleep 60", background: true });
  assert.equal(more.code, "TOO_MANY_PROCESSES");
  const list = await bench.run("process", { action: "list" });
  assert.equal(list.json.processes.length, 16);
  assert.ok(pids.every(isAlive));
  await bench.box.close();
  assert.ok(!pids.some(isAlive));
  const { spawnSync } = await import("node:child_process");
  const left = spawnSync("sh", [
    "-c",
    "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 65.0005$'",
  ]);
  assert.equal(left.stdout.toString().trim(), "0");
  const closed = await bench.run("terminal", { command: "sleep 60", background: true });
  assert.equal(closed.code, "SESSION_CLOSED");
});

void test("the end is told when asked for, with the redacted tail; the log is redacted and private", async (t) => {
  const ends: unknown[] = [];
  const secret = "planted-secret-value-77";
  const bench = toolBench(t, {
    secrets: new Map([["PLANTED", secret]]),
    onProcessEnd: (...end) => void ends.push(end),
  });
  const quiet = await start(bench, "true");
  await bench.run("process", { action: "wait", process_id: quiet });
  const { json } = await bench.run("terminal", {
    command: `printf planted-secret; sleep 0.05; echo -value-77; exit 3`,
    background: true,
    notify_on_complete: true,
  });
  await until("the notice", () => ends.length > 0);
  assert.deepEqual(ends, [[json.process_id, 3, "[redacted:PLANTED]\n"]]);
  assert.equal(readFileSync(json.log_path, "utf8"), "[redacted:PLANTED]\n");
  assert.equal(statSync(json.log_path).mode & 0o777, 0o600);
});

void test("unknown ids and missing ones are told; text for a waiting shell is judged like a command", async (t) => {
  const bench = toolBench(t);
  assert.equal(
    (await bench.run("process", { action: "poll", process_id: "proc-9" })).code,
    "NO_SUCH_PROCESS",
  );
  assert.equal((await bench.run("process", { action: "poll" })).code, "PROCESS_ID_MISSING");
  const assessment = await bench
    .tool("process")
    .assess(
      { action: "write", process_id: "proc-1", data: "rm -rf /\n" },
      { cwd: "/", sessionId: "s" },
    );
  assert.equal(assessment.hardBlock?.id, "hard-block/rm-root");
});
