// `hermes dashboard set-password`: user name and hash into config.yaml; the password itself is stored nowhere.
import { hashPassword } from "#auth/providers/password-hash.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { rootOf } from "#config/homes.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { applyConfigChanges } from "#config/write.ts";
import { usageError } from "../command-line.ts";
import { ensureHome } from "../compose.ts";
import { openConfigSource } from "../config-source.ts";
import { configTarget } from "../config-target.ts";
import { flagOption, type Context } from "../context.ts";
import type { Io } from "../io.ts";
import { answered } from "../pick-model.ts";
import { afterRestart } from "./restart-note.ts";

const SHORTEST = 8;
const FORM = "Without a terminal: hermes dashboard set-password USERNAME --password-stdin < FILE";

interface Credentials {
  readonly username: string;
  readonly password: string;
}

export async function setPassword({ launch, line, io }: Context): Promise<ExitCode> {
  const home = { ...launch, home: rootOf(launch.home) };
  await ensureHome(home);
  const loaded = openConfigSource(home).loaded();
  const given = line.operands[0];
  const { username, password } = flagOption(line.options, "passwordStdin")
    ? await fromStdin(given, io)
    : await fromTerminal(given, loaded, io);
  const hash = await hashPassword(password);
  await applyConfigChanges(configTarget(home), [
    { path: ["dashboard", "basic_auth", "username"], value: username },
    { path: ["dashboard", "basic_auth", "password_hash"], value: hash },
    // The hash takes the place of a password in the clear.
    { path: ["dashboard", "basic_auth", "password"], value: undefined },
  ]);
  report(username, loaded, io);
  return EXIT.ok;
}

function report(username: string, loaded: LoadedConfig, io: Io): void {
  const shadows = ["USERNAME", "PASSWORD", "PASSWORD_HASH"]
    .map((name) => `HERMES_DASHBOARD_BASIC_AUTH_${name}`)
    .filter((name) => loaded.env.get(name) !== undefined);
  if (io.json) io.object({ username, shadowed_by: shadows });
  else io.line(`The password of ${username} is set. ${afterRestart(loaded.root)}`);
  for (const name of shadows)
    io.note(`${name} is set and comes before what was written: unset it.`);
}

async function fromStdin(username: string | undefined, io: Io): Promise<Credentials> {
  if (username === undefined)
    throw usageError("set-password --password-stdin needs USERNAME.", FORM);
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Buffer));
  const password = Buffer.concat(chunks).toString("utf8").split(/\r?\n/, 1)[0] ?? "";
  const problem = nameProblem(username) ?? passwordProblem(password);
  if (problem !== undefined) throw usageError(problem);
  return { username, password };
}

async function fromTerminal(
  given: string | undefined,
  { config }: LoadedConfig,
  io: Io,
): Promise<Credentials> {
  if (!io.interactive || io.json)
    throw usageError("The password is asked for on a terminal.", FORM);
  const clack = await import("@clack/prompts");
  const known = config.dashboard.basic_auth.username || "admin";
  const username =
    given ??
    answered(
      await clack.text({
        message: "User name",
        initialValue: known,
        validate: (text) => nameProblem(text ?? ""),
      }),
    );
  const problem = nameProblem(username);
  if (problem !== undefined) throw usageError(problem);
  const password = answered(
    await clack.password({ message: "Password", validate: (text) => passwordProblem(text ?? "") }),
  );
  answered(
    await clack.password({
      message: "The same again",
      validate: (text) => (text === password ? undefined : "That is another one."),
    }),
  );
  return { username, password };
}

function nameProblem(username: string): string | undefined {
  if (username.trim() === "" || username.length > 256)
    return "A user name has 1 to 256 characters.";
  // oxlint-disable-next-line no-control-regex -- a name with a line end could never be typed again
  return /[\u0000-\u001f\u007f]/.test(username)
    ? "A user name has no control characters."
    : undefined;
}

function passwordProblem(password: string): string | undefined {
  if (password.length >= SHORTEST) return undefined;
  return `A password has at least ${SHORTEST} characters.`;
}
