import assert from "node:assert/strict";
import { test } from "node:test";
import { terminalProgram } from "./program.ts";

const env = {
  PATH: "/usr/bin",
  OPENAI_API_KEY: "sk-1",
  HERMES_HOME: "/h/profiles/coder",
  HERMES_DASHBOARD: "1",
  HERMES_DASHBOARD_SESSION_TOKEN: "secret-of-the-dashboard",
  HERMES_DASHBOARD_HOST: "0.0.0.0",
  HERMES_SLOT: "dashboard",
  HERMES_SLOT_DIR: "/run/service/dashboard",
  HERMES_READY_FD: "3",
  HERMES_S6_SUPERVISED_CHILD: "1",
  HERMES_TUI_RESUME: "somebody-else",
  TERM: "dumb",
  EMPTY: undefined,
};
const facts = { env, project: "/p", root: "/h" };
const request = { profile: "coder", resume: null, cols: 100, rows: 30 };

test("the dashboard's environment less what is of the dashboard and of its slot", () => {
  assert.deepEqual(terminalProgram(facts, request).env, {
    PATH: "/usr/bin",
    OPENAI_API_KEY: "sk-1",
    HERMES_HOME: "/h",
    HERMES_DASHBOARD: "1",
    TERM: "xterm-256color",
  });
});

test("a session to resume goes by the environment, never by a word", () => {
  const { env: with_, args } = terminalProgram(facts, { ...request, resume: "20260115_1" });
  assert.equal(with_["HERMES_TUI_RESUME"], "20260115_1");
  assert.deepEqual(args.slice(-4), ["/p/bin/hermes.mjs", "-p", "coder", "--tui"]);
});
