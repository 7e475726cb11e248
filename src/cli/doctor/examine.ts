// All sections of the doctor, and what `--fix` repairs (agent.md §11.1).
import { chmodSync } from "node:fs";
import { HermesError } from "#base/errors.ts";
import type { Redactor } from "#agent/ports/redactor.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { ensureHome } from "../compose.ts";
import { openConfigSource } from "../config-source.ts";
import type { Context } from "../context.ts";
import {
  directoriesSection,
  missingFolders,
  runtimeSection,
  toolsSection,
  wrongModes,
} from "./machine.ts";
import { loginSection } from "./login.ts";
import { makeReport, type DoctorReport, type DoctorSection } from "./report.ts";
import {
  configSection,
  envSection,
  memorySection,
  modelSection,
  policySection,
  profilesSection,
} from "./settings.ts";
import { servicesSection } from "./services.ts";
import { finishIndex, storeSection } from "./store.ts";

/** Never throws for what it finds. `live` alone asks the network. */
export async function examine(context: Context, live: boolean): Promise<DoctorReport> {
  const { launch } = context;
  const { loaded, redactor, refused } = readConfig(context);
  const withConfig: Promise<DoctorSection>[] = loaded
    ? [storeSection(loaded), modelSection(context, loaded, redactor, live)]
    : [];
  const [store, model] = await Promise.all(withConfig);
  return makeReport([
    runtimeSection(launch),
    envSection(launch.home),
    configSection(launch, refused),
    directoriesSection(launch.home),
    ...(store ? [store] : []),
    await servicesSection(launch),
    ...(model ? [model] : []),
    ...(loaded ? [loginSection(loaded)] : []),
    toolsSection(launch, loaded),
    policySection(),
    ...(loaded ? [memorySection(loaded)] : []),
    profilesSection(launch.home),
  ]);
}

interface Read {
  readonly loaded: LoadedConfig | null;
  readonly redactor: Redactor;
  readonly refused: HermesError | null;
}

function readConfig({ launch }: Context): Read {
  try {
    const source = openConfigSource(launch);
    return { loaded: source.loaded(), redactor: source.redactor, refused: null };
  } catch (error) {
    if (!(error instanceof HermesError)) throw error;
    const plain: Redactor = {
      text: (t) => t,
      value: (v) => v,
      stream: () => ({ push: (t) => t, flush: () => "" }),
    };
    return { loaded: null, redactor: plain, refused: error };
  }
}

/** Makes missing directories, finishes the index and closes modes that are too open. One line for each thing done. */
export async function repair(context: Context): Promise<readonly string[]> {
  const { home } = context.launch;
  const missing = missingFolders(home);
  await ensureHome(context.launch);
  const done = missing.map((name) => `made ${home}/${name}`);
  for (const { path, wanted } of wrongModes(home)) {
    chmodSync(path, wanted);
    done.push(`set mode ${wanted.toString(8)} on ${path}`);
  }
  const { loaded } = readConfig(context);
  if (loaded && (await finishIndex(loaded))) done.push("finished the search index");
  return done;
}
