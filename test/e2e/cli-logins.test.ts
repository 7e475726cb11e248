// Logins from the command line, as real processes: password, sessions, secret, unlock (dashboard.md §1.1, §6.7, §10; row 38, 42).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runCli, startCli } from "../kit/cli.ts";
import { createBrowser } from "../kit/gated.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const WAIT_MS = 60_000;
const PASSWORD = "correct horse battery";

test("set-password, serve, sign in, list, revoke, rotate, unlock", async (t) => {
  const home = tempDir(t);
  const set = await runCli(["dashboard", "set-password", "ann", "--password-stdin"], {
    home,
    input: `${PASSWORD}\n`,
  });
  assert.equal(set.code, 0, set.stderr);
  const config = readFileSync(join(home, "config.yaml"), "utf8");
  assert.ok(
    config.includes("username: ann") && config.includes("password_hash: scrypt$16384$8$1$"),
  );
  assert.ok(!config.includes(PASSWORD));

  const run = startCli(["dashboard", "--host", "0.0.0.0", "--port", "0"], { home });
  t.after(() => run.child.kill("SIGKILL"));
  await until("the start line", () => run.stdout().includes("\n"), WAIT_MS);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(run.stdout())?.[0] ?? assert.fail(run.stderr());
  const login = async (password: string) => {
    const browser = createBrowser(url);
    const body = { provider: "basic", username: "ann", password };
    return { browser, answer: await browser.post("/auth/password-login", body) };
  };
  const first = await login(PASSWORD);
  assert.deepEqual(first.answer.json(), { ok: true, next: "/" });
  const second = await login(PASSWORD);

  const listed = JSON.parse(
    (await runCli(["dashboard", "sessions", "list", "--json"], { home })).stdout,
  ) as {
    sessions: { id: string; user_id: string }[];
  };
  assert.deepEqual(
    listed.sessions.map(({ user_id }) => user_id),
    ["ann", "ann"],
  );
  const own = (await first.browser.get("/api/auth/sessions")).json<{
    sessions: { id: string; current: boolean }[];
  }>();
  const mine = own.sessions.find(({ current }) => current)?.id ?? "";
  const revoked = await runCli(["dashboard", "sessions", "revoke", mine.slice(0, 8)], { home });
  assert.equal(revoked.code, 0, revoked.stderr);
  const status = async ({ browser }: typeof first) => (await browser.get("/api/auth/me")).status;
  await until("the revoked session is over", async () => (await status(first)) === 401, 2000);
  assert.equal(await status(second), 200);
  assert.equal(
    (await runCli(["dashboard", "rotate-secret"], { home })).stdout,
    "One session ended.\n",
  );
  await until("the other one is over", async () => (await status(second)) === 401, 2000);
  assert.equal((await runCli(["dashboard", "sessions", "revoke", "0000"], { home })).code, 1);

  for (let n = 0; n < 8; n++) await login("wrong");
  const locked = await login(PASSWORD);
  assert.equal(locked.answer.status, 429);
  assert.equal((await runCli(["dashboard", "unlock", "ann"], { home })).code, 0);
  assert.equal((await login(PASSWORD)).answer.status, 200);
  const all = await runCli(["dashboard", "sessions", "revoke-all"], { home });
  assert.equal(all.stdout, "One session ended.\n");
  const log = readFileSync(join(home, "logs", "dashboard-auth.log"), "utf8");
  for (const event of ["login_success", "login_failure", "session_revoked", "rate_limited"]) {
    assert.ok(log.includes(`"event":"${event}"`), event);
  }
  assert.ok(!log.includes(PASSWORD) && !run.stderr().includes(PASSWORD));
});

test("bad words: nothing is asked without a terminal, short passwords and foreign client ids are refused", async (t) => {
  const home = tempDir(t);
  const cases: [readonly string[], string, number][] = [
    [["set-password"], "", 64],
    [["set-password", "ann", "--password-stdin"], "short\n", 64],
    [["set-password", "--password-stdin"], "long enough\n", 64],
    [["register"], "", 64],
    [["register", "--client-id", "inst-1"], "", 64],
    [["sessions"], "", 64],
    [["sessions", "burn"], "", 64],
    [["sessions", "revoke"], "", 64],
    [["unlock"], "", 64],
    [["unlock", "ann", "--all"], "", 64],
  ];
  for (const [words, input, code] of cases) {
    const result = await runCli(["dashboard", ...words], { home, input });
    assert.equal(result.code, code, `${words.join(" ")}: ${result.stderr}`);
  }
  const good = await runCli(["dashboard", "register", "--client-id", "agent:inst-1"], { home });
  assert.equal(good.code, 0, good.stderr);
  assert.match(
    readFileSync(join(home, ".env"), "utf8"),
    /^HERMES_DASHBOARD_OAUTH_CLIENT_ID=agent:inst-1$/m,
  );
});
