// `hermes setup`: model, key, a test message. A second run shows what is set as the default (agent.md §1.3).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { chooseModel } from "#model/choose.ts";
import { testModel } from "#model/probe.ts";
import { usageError } from "../command-line.ts";
import { ensureHome } from "../compose.ts";
import { openConfigSource, type ConfigSource } from "../config-source.ts";
import { flagOption, type Context } from "../context.ts";
import { openDeps, readiness, secretReader } from "../model-access.ts";
import { answered, pickModel } from "../pick-model.ts";
import { saveModel } from "../save-model.ts";

export async function run(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const step = line.operands[0];
  if (step !== undefined && step !== "model") {
    throw usageError(`There is no step "${step}" of setup; there is: model.`);
  }
  if (!io.interactive || io.json) {
    throw usageError(
      "The setup needs a terminal.",
      "Without one: hermes model set PROVIDER MODEL, and hermes config set NAME_OF_KEY -",
    );
  }
  const clack = await import("@clack/prompts");
  clack.intro("Hermes setup");
  await ensureHome(launch);
  const source = openConfigSource(launch);
  await chooseStep(context, source);
  const works = await testStep(source);
  clack.outro(works ? "Ready. Start with: hermes" : "Saved. Try again later: hermes model test");
  return works ? EXIT.ok : EXIT.failed;
}

async function chooseStep(context: Context, source: ConfigSource): Promise<void> {
  const clack = await import("@clack/prompts");
  const state = readiness(source.loaded());
  if (state.ready && !flagOption(context.line.options, "reconfigure")) {
    const keep = answered(
      await clack.confirm({
        message: `Keep ${state.choice.provider}:${state.choice.model}?`,
        initialValue: true,
      }),
    );
    if (keep) return;
  }
  const saved = await pickModel(context, source);
  for (const note of await saveModel(context.launch, source.loaded(), saved))
    clack.log.success(note);
  source.reload();
}

async function testStep(source: ConfigSource): Promise<boolean> {
  const clack = await import("@clack/prompts");
  const loaded = source.loaded();
  const spinner = clack.spinner();
  spinner.start("Asking the model for one word");
  const choice = chooseModel(loaded.config, secretReader(loaded));
  const result = await testModel(choice, openDeps(loaded, source.redactor));
  if (result.ok) spinner.stop(`${choice.model} answered in ${result.latency_ms} ms`);
  else spinner.stop(result.message);
  return result.ok;
}
