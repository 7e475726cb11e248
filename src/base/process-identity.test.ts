import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { until } from "../../test/kit/until.ts";
import { isAlive, ownIdentity, processStartTime } from "./process-identity.ts";

const skip = !existsSync("/proc/self/stat") && "needs /proc";

test("we are alive, and nobody else is us", { skip }, () => {
  const own = ownIdentity();
  assert.equal(own.pid, process.pid);
  assert.match(own.startTime, /^\d+$/);
  assert.equal(isAlive(own), true);
  assert.equal(isAlive({ ...own, startTime: `${own.startTime}1` }), false);
  assert.equal(isAlive({ ...own, startTime: "" }), true);
  assert.equal(isAlive({ pid: 2 ** 22 + 1, startTime: "", host: own.host }), false);
});

test("a process of another host cannot be judged", () => {
  assert.equal(isAlive({ pid: 1, startTime: "1", host: "surely-not-this-host" }), true);
});

test("a name with spaces and brackets does not move the fields", { skip }, async () => {
  const child = spawn(process.execPath, [
    "-e",
    `process.title = "a) R 1 (b"; process.stdout.write("up"); setInterval(() => {}, 1000)`,
  ]);
  await once(child.stdout, "data");
  const startTime = processStartTime(child.pid ?? 0);
  assert.ok(Number(startTime) >= Number(ownIdentity().startTime), String(startTime));
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(processStartTime(child.pid ?? 0), null);
});

test("a zombie is dead", { skip }, async () => {
  // The shell starts a child, tells its pid, and stays without ever waiting for it.
  const script = "sh -c 'exit 0' & echo $!; exec sleep 60";
  const parent = spawn("sh", ["-c", script]);
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString().trim());
  await until("the child's end", () => processStartTime(pid) === null);
  assert.equal(existsSync(`/proc/${pid}`), true, "it is a zombie, not gone");
  parent.kill("SIGKILL");
  await once(parent, "exit");
});
