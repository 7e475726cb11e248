// `hermes model` (agent.md §1.3, §3).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError, isHermesError } from "#base/errors.ts";
import { modelOptions } from "#model/catalog.ts";
import { chooseModel } from "#model/choose.ts";
import { testModel } from "#model/probe.ts";
import { usageError } from "../command-line.ts";
import { openConfigSource, type ConfigSource } from "../config-source.ts";
import { flagOption, textOption, type Context } from "../context.ts";
import { openDeps, secretReader, trialDeps } from "../model-access.ts";
import { pickModel } from "../pick-model.ts";
import { configFlags } from "../run-flags.ts";
import { saveModel, type SavedModel } from "../save-model.ts";

export async function run(context: Context): Promise<ExitCode> {
  const { launch, line } = context;
  const source = openConfigSource(launch, configFlags(line.options));
  const action = ACTIONS[line.path[1] ?? ""] ?? pick;
  return action(context, source);
}

type Action = (context: Context, source: ConfigSource) => Promise<ExitCode>;
const ACTIONS: Readonly<Record<string, Action>> = { list, set, test };

async function pick(context: Context, source: ConfigSource): Promise<ExitCode> {
  if (flagOption(context.line.options, "demo")) {
    return save(context, source, { provider: "demo", model: "demo" });
  }
  if (!context.io.interactive || context.io.json) {
    throw usageError(
      "The model picker needs a terminal.",
      "Without one: hermes model set PROVIDER MODEL, and hermes config set NAME_OF_KEY -",
    );
  }
  return save(context, source, await pickModel(context, source));
}

async function save(
  { launch, io }: Context,
  source: ConfigSource,
  saved: SavedModel,
): Promise<ExitCode> {
  for (const note of await saveModel(launch, source.loaded(), saved)) io.note(note);
  if (io.json) io.object({ provider: saved.provider, model: saved.model });
  return EXIT.ok;
}

/** Checked before it is saved: an unknown provider, a bad address or an empty model id is refused here. */
async function set(context: Context, source: ConfigSource): Promise<ExitCode> {
  const [provider = "", model = ""] = context.line.operands;
  const baseUrl = textOption(context.line.options, "baseUrl");
  const keyEnv = textOption(context.line.options, "keyEnv");
  const missing = missingKey(source, { provider, model, baseUrl, keyEnv });
  const code = await save(context, source, { provider, model, baseUrl, keyEnv });
  if (missing !== null)
    context.io.note(`Next, its key (read from stdin): hermes config set ${missing} -`);
  return code;
}

/** A key can come later: the name to set. Everything else would never work and is thrown. */
function missingKey(source: ConfigSource, saved: SavedModel): string | null {
  const { provider, model, baseUrl, keyEnv } = saved;
  const deps = trialDeps(openDeps(source.loaded(), source.redactor), { provider, baseUrl });
  try {
    chooseModel(deps.settings, deps.secret, { provider, model });
    return null;
  } catch (error) {
    if (!isHermesError(error, "CREDENTIAL_MISSING")) throw error;
    const name = keyEnv ?? error.setting ?? "";
    return deps.secret(name) === undefined ? name : null;
  }
}

async function list({ line, io }: Context, source: ConfigSource): Promise<ExitCode> {
  const loaded = source.loaded();
  const only = textOption(line.options, "provider");
  const { providers } = await modelOptions(openDeps(loaded, source.redactor), {
    includeUnconfigured: only !== undefined,
    refresh: false,
  });
  const shown = providers.filter((entry) => only === undefined || entry.id === only);
  if (only !== undefined && shown.length === 0) throw usageError(`There is no provider ${only}.`);
  const items = shown.flatMap((entry) =>
    entry.models.map((model) => ({
      provider: entry.id,
      model: model.id,
      context_window: model.context_window,
      configured: entry.configured,
    })),
  );
  if (io.json) io.object({ items });
  else for (const item of items) io.line(`${item.provider}:${item.model}  ${item.context_window}`);
  if (items.length === 0)
    io.note("No models are known here. hermes model list --provider ID asks one provider.");
  return EXIT.ok;
}

async function test({ line, io }: Context, source: ConfigSource): Promise<ExitCode> {
  const loaded = source.loaded();
  const choice = chooseModel(loaded.config, secretReader(loaded), {
    provider: textOption(line.options, "provider"),
    model: textOption(line.options, "model"),
  });
  const result = await testModel(choice, openDeps(loaded, source.redactor));
  if (!result.ok) {
    const exit =
      result.stage === "auth" || result.kind === "model-missing" ? EXIT.refused : EXIT.failed;
    throw new HermesError(
      "MODEL_TEST_FAILED",
      `${choice.provider}:${choice.model}: ${result.message}`,
      {
        exit,
        data: { stage: result.stage },
      },
    );
  }
  const { latency_ms, context_window } = result;
  if (io.json)
    io.object({ provider: choice.provider, model: choice.model, latency_ms, context_window });
  else
    io.line(
      `${choice.provider}:${choice.model} answered in ${latency_ms} ms; window ${context_window} tokens`,
    );
  return EXIT.ok;
}
