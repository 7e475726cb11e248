// `hermes profile export|import` (agent.md §8).
import { resolve } from "node:path";
import type { ExitCode } from "#base/exit-codes.ts";
import { EXIT } from "#base/exit-codes.ts";
import { rootOf } from "#config/homes.ts";
import { exportProfile } from "#profile/export.ts";
import { findProfile } from "#profile/find.ts";
import { importProfile, inspectArchive } from "#profile/import.ts";
import { parseProfileName } from "#profile/name.ts";
import { ensureHome } from "../compose.ts";
import { textOption, type Context } from "../context.ts";
import { reservedWords } from "../registry.ts";
import { ended, openKeeper, printPorts } from "./changes.ts";

export async function exportOne({ launch, line, io }: Context): Promise<ExitCode> {
  const profile = findProfile(rootOf(launch.home), line.operands[0] ?? "");
  const file = resolve(textOption(line.options, "output") ?? `${profile.name}.tar.gz`);
  const sizeBytes = await exportProfile(profile, file);
  if (io.json) io.object({ name: profile.name, path: file, size_bytes: sizeBytes });
  else io.line(`${file} holds ${profile.name}, without secrets and history (${sizeBytes} bytes).`);
  return EXIT.ok;
}

export async function importOne(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const root = rootOf(launch.home);
  const file = resolve(line.operands[0] ?? "");
  const facts = await inspectArchive(file);
  const name = parseProfileName(textOption(line.options, "name") ?? facts.top, reservedWords());
  await ensureHome({ home: root, env: launch.env });
  const { hook } = await openKeeper(context, "profile import");
  const made = await importProfile({ root, name, file, facts }, hook);
  const { profile, ports } = made;
  if (io.json)
    io.object({ name, path: profile.home, hook: made.hook, ports, left_out: facts.leftOut });
  else {
    io.line(`Profile ${name} is in ${profile.home}. Its secrets have to be set anew.`);
    printPorts(context, ports);
  }
  if (facts.leftOut.length > 0) io.note(`left out: ${facts.leftOut.join(", ")}`);
  return ended(context, made.hook);
}
