import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
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
  // The child ends only after its shell became a program that waits for nobody: a shell may clear its children away.
  const script = "sh -c 'read -r word <&3' & echo $!; exec sleep 60";
  const parent = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
  const [line] = (await once(parent.stdio[1] as Readable, "data")) as [Buffer];
  const pid = Number(line.toString().trim());
  const comm = () => readFileSync(`/proc/${parent.pid}/comm`, "utf8").trim();
  await until("the shell is sleep", () => comm() === "sleep");
  assert.notEqual(processStartTime(pid), null, "the child is alive");
  (parent.stdio[3] as Writable).end();
  await until("the child's end", () => processStartTime(pid) === null);
  assert.equal(existsSync(`/proc/${pid}`), true, "it is a zombie, not gone");
  parent.kill("SIGKILL");
  await once(parent, "exit");
});
