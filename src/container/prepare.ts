// Setup of the container (container.md §3): one process, first as root, then for good as hermes. Few named steps, each timed;
// running one twice changes nothing.
import { fchownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";
import { errnoOf, HermesError, isHermesError, messageOf } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { type Account, USER } from "./accounts.ts";
import { type Boot, type PrepareDeps, timed } from "./boot.ts";
import { createBootLog } from "./boot-log.ts";
import type { BootStep, Role } from "./boot-record.ts";
import { renderCommand, renderLimits, stopLimits } from "./command-file.ts";
import { readContainerEnv } from "./environment.ts";
import { rootSteps, runHooks } from "./root-steps.ts";
import { route, type Routing } from "./route.ts";
import { userSteps } from "./user-steps.ts";

const SERVICE_ROLES: readonly Role[] = ["gateway", "serve", "dashboard", "supervise"];

/** The container's exit code; what ends it is said in one line (field-rules A04). */
export async function prepare(deps: PrepareDeps): Promise<ExitCode> {
  try {
    await prepareSteps(deps);
    return EXIT.ok;
  } catch (error) {
    createBootLog(true).error(oneLine(error));
    return isHermesError(error) ? error.exit : EXIT.failed;
  }
}

function oneLine(error: unknown): string {
  if (!isHermesError(error)) return `setup failed: ${messageOf(error)}`;
  const problems = error.problems.flatMap(({ message, fix }) => [message, fix ?? ""]);
  return [error.message, ...problems, error.fix ?? ""].filter((text) => text !== "").join(" ");
}

/** Throws HermesError with the container's exit code. */
async function prepareSteps(deps: PrepareDeps): Promise<void> {
  const boot = await openBoot(deps);
  const isRoot = process.getuid?.() === 0;
  const account = isRoot ? await rootSteps(boot) : userOnly(boot);
  await timed(boot, "R5", () => giveTerminal(boot, isRoot ? account : null));
  if (boot.routing.role !== "instant" && isRoot) await timed(boot, "R6", () => runHooks(boot));
  await timed(boot, "R7", () => writeState(boot, isRoot));
  if (boot.routing.role === "instant") return;
  if (isRoot) become(account);
  await userSteps(boot);
}

async function openBoot(deps: PrepareDeps): Promise<Boot> {
  const steps: BootStep[] = [];
  const env = await timed({ steps }, "R1", () => readContainerEnv(deps.env));
  const routing = await route(deps.words, {
    isTerminal: isatty(0),
    supervised: deps.supervised,
    noSupervise: env.noSupervise,
    isProgram: (word) => deps.isProgram(word),
    isCommand: (word) => deps.isCommand(word),
    classify: (words) => deps.classify(words),
  });
  const showInfo = (env.bootLog || SERVICE_ROLES.includes(routing.role)) && !isatty(2);
  const log = createBootLog(showInfo);
  if (!deps.supervised) log.warn(notFirst(env.dashboard, routing.role));
  if (routing.kind === "unknown") log.error(notFound(routing));
  if (routing.role !== "instant") for (const notice of env.notices) log.warn(notice);
  return { deps, env, routing, log, steps };
}

function notFound({ argv }: Routing): string {
  const word = Buffer.from(argv[1] ?? "", "latin1").toString("utf8");
  return `${JSON.stringify(word)} is neither a command of hermes nor a program on PATH`;
}

/** One line, whatever else is said (container.md §2.6, field-rules A01). */
function notFirst(dashboard: boolean, role: Role): string {
  const text = "another init is PID 1: nothing is supervised";
  if (role === "supervise") return `${text} by PID 1; supervise does it`;
  return dashboard
    ? `${text}; HERMES_DASHBOARD starts nothing here, the command "supervise" runs every service`
    : text;
}

function userOnly({ env, log }: Boot): Account {
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const wanted = [env.uid ?? account.uid, env.gid ?? account.gid];
  if (wanted[0] !== account.uid || wanted[1] !== account.gid) {
    log.warn("HERMES_UID and HERMES_GID are ignored: the container was not started as root");
  }
  return account;
}

/** The command owns its terminal; scripts look for the mark. */
function giveTerminal({ deps, log }: Boot, account: Account | null): void {
  if (!isatty(0)) return;
  try {
    if (account !== null) fchownSync(0, account.uid, account.gid);
  } catch (error) {
    log.warn(`the terminal cannot be given to ${USER}: ${errnoOf(error) ?? messageOf(error)}`);
  }
  writeFileSync(join(deps.paths.base, "state", "tty"), "");
}

function writeState({ deps, env, routing }: Boot, isRoot: boolean): void {
  const state = join(deps.paths.base, "state");
  const command = renderCommand({
    argv: argvOf(routing, deps.paths.libexec),
    cwd: deps.cwd,
    user: isRoot ? USER : null,
  });
  writeFileSync(join(state, "cmd"), command, { encoding: "latin1", mode: 0o600 });
  writeFileSync(join(state, "limits"), renderLimits(stopLimits(env.stopGrace)));
  if (routing.role === "instant") writeFileSync(join(state, "noslots"), "");
}

/** Ours by absolute path: a PATH of the operator's need not name it. */
function argvOf({ kind, argv }: Routing, libexec: string): readonly string[] {
  switch (kind) {
    case "hold":
      return [join(libexec, "hold")];
    case "hermes":
    case "unknown":
      return [join(libexec, "..", "bin", "hermes"), ...argv.slice(1)];
    case "program":
      return argv;
  }
}

/** Node has it on POSIX systems; its types do not say so. */
type InitGroups = NodeJS.Process & { initgroups?(user: string, group: number): void };

/** For good: groups, then gid, then uid. Throws DROP_FAILED (78). */
function become({ uid, gid }: Account): void {
  try {
    (process as InitGroups).initgroups?.(USER, gid);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    throw new HermesError("DROP_FAILED", `Root cannot become ${USER}: ${messageOf(error)}.`, {
      exit: EXIT.refused,
      fix: "Start with --user 10000:10000, or add the capabilities SETUID and SETGID.",
    });
  }
  process.umask(0o022);
}
