// `hermes doctor` (agent.md §11.1): exit 0, or 1 with errors.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { flagOption, type Context } from "../context.ts";
import { examine, repair } from "../doctor/examine.ts";
import type { DoctorItem, DoctorReport } from "../doctor/report.ts";
import type { Io } from "../io.ts";

const MARKS = { ok: "✓", off: "–", warning: "!", error: "✗" } as const;
const COLOURS = { ok: "green", off: "dim", warning: "yellow", error: "red" } as const;

export async function run(context: Context): Promise<ExitCode> {
  const { line, io } = context;
  if (flagOption(line.options, "fix")) {
    for (const text of await repair(context)) io.note(`fixed: ${text}`);
  }
  const report = await examine(context, flagOption(line.options, "live"));
  if (io.json) io.object({ ...report });
  else print(report, io);
  return report.counts.error > 0 ? EXIT.failed : EXIT.ok;
}

function print(report: DoctorReport, io: Io): void {
  for (const { title, items } of report.sections) {
    io.line(io.paint("bold", title));
    for (const item of items)
      io.line(`  ${io.paint(COLOURS[item.level], MARKS[item.level])} ${item.message}`);
  }
  const problems = report.sections.flatMap((section) => section.items).filter(isProblem);
  io.line();
  if (problems.length === 0) io.line("No problems found.");
  for (const [index, { message, fix }] of problems.entries()) {
    io.line(`${index + 1}. ${message}`);
    if (fix !== null) io.line(`   ${fix}`);
  }
}

function isProblem(item: DoctorItem): boolean {
  return item.level === "warning" || item.level === "error";
}
