// Doctor: .env, config.yaml, model, memory, policy, profiles: what was set.
import { existsSync, readFileSync, statSync } from "node:fs";
import { type HermesError, messageOf } from "#base/errors.ts";
import type { Redactor } from "#agent/ports/redactor.ts";
import { checkConfig } from "#config/check.ts";
import { tokenizeEnv } from "#config/env-file.ts";
import { envPathOf } from "#config/files.ts";
import { rootOf } from "#config/homes.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { listProfiles } from "#profile/list.ts";
import { policyCounts } from "#tools/policy.ts";
import { checkLines } from "../commands/config-check.ts";
import type { Context, Launch } from "../context.ts";
import { MEMORY_TARGETS, readMemory } from "../memory-text.ts";
import { openDeps, readiness, secretReader } from "../model-access.ts";
import { error, off, ok, warning, type DoctorItem, type DoctorSection } from "./report.ts";

export function envSection(home: string): DoctorSection {
  return { id: "env-file", title: "Secrets (.env)", items: envItems(envPathOf(home)) };
}

function envItems(path: string): readonly DoctorItem[] {
  if (!existsSync(path))
    return [off("ENV_MISSING", `${path} does not exist: no secrets are kept there`)];
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    return [error("ENV_UNREADABLE", messageOf(cause), "Make the file readable for this user.")];
  }
  const tokens = tokenizeEnv(text);
  const names = tokens.flatMap((token) => (token.kind === "pair" ? [token.name] : []));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const bad = tokens.filter((token) => token.kind === "bad").length;
  return [
    ok(
      "ENV",
      `${path}: ${new Set(names).size} names, mode ${(statSync(path).mode & 0o777).toString(8)}`,
    ),
    ...(bad === 0
      ? []
      : [
          warning(
            "ENV_BAD_LINE",
            `${bad} lines are not NAME=VALUE and are ignored`,
            `Edit ${path}`,
          ),
        ]),
    ...[...new Set(twice)].map((name) =>
      warning("ENV_TWICE", `${name} is set twice; the last one counts`, `Edit ${path}`),
    ),
  ];
}

export function configSection(launch: Launch, refused: HermesError | null): DoctorSection {
  const found = checkConfig({ home: launch.home, processEnv: launch.env });
  const [head = "", ...lines] = checkLines(found);
  const fix = "hermes config check shows the places";
  const isBroken = found.state === "broken" || found.state === "unreadable";
  const items: DoctorItem[] = [
    isBroken ? error("CONFIG_BROKEN", head, "Correct the file by hand.") : ok("CONFIG", head),
    ...lines.map((text) =>
      text.startsWith("✗")
        ? error("CONFIG_INVALID", text.slice(2), fix)
        : warning("CONFIG_DRIFT", text.slice(2), fix),
    ),
  ];
  if (refused && lines.length === 0) items.push(error(refused.code, refused.message, refused.fix));
  return { id: "config", title: "Configuration", items };
}

export async function modelSection(
  context: Context,
  loaded: LoadedConfig,
  redactor: Redactor,
  live: boolean,
): Promise<DoctorSection> {
  const state = readiness(loaded);
  const items: DoctorItem[] = [];
  if (!state.ready) {
    items.push(error("MODEL_NOT_CONFIGURED", state.reason, "hermes model, or hermes model --demo"));
  } else {
    const { provider, model, keyName, demo } = state.choice;
    items.push(ok("MODEL", demo ? "DEMO (not an AI)" : `${provider}:${model}`));
    if (keyName !== null) {
      const isSet = secretReader(loaded)(keyName) !== undefined || keyName.includes(".");
      items.push(
        isSet
          ? ok("KEY", `${keyName} is set`)
          : error("CREDENTIAL_MISSING", `${keyName} is not set`, `hermes config set ${keyName} -`),
      );
    }
    items.push(await windowItem(loaded));
    if (live) items.push(await liveItem(loaded, redactor));
  }
  if (live) items.push(...(await localServers(context, loaded)));
  return { id: "model", title: "Model", items };
}

async function windowItem(loaded: LoadedConfig): Promise<DoctorItem> {
  const { modelInfo } = await import("#model/info.ts");
  const { settings, secret, cacheDir, clock } = openDeps(loaded, {
    text: (t) => t,
    value: (v) => v,
    stream: noStream,
  });
  const tokens = modelInfo({ settings, secret, cacheDir, clock }).effective_context_length;
  const text = `window ${tokens} tokens`;
  return tokens < 32_768
    ? warning("WINDOW_SMALL", text, "Choose a model with 32768 or more.")
    : ok("WINDOW", text);
}

function noStream(): ReturnType<Redactor["stream"]> {
  return { push: (text) => text, flush: () => "" };
}

async function liveItem(loaded: LoadedConfig, redactor: Redactor): Promise<DoctorItem> {
  const { testModel } = await import("#model/probe.ts");
  const state = readiness(loaded);
  if (!state.ready) return error("MODEL_NOT_CONFIGURED", state.reason);
  const result = await testModel(state.choice, openDeps(loaded, redactor));
  if (!result.ok) return error("MODEL_NOT_ANSWERING", result.message, "hermes model test");
  return ok("MODEL_ANSWERS", `the model answered in ${result.latency_ms} ms`);
}

async function localServers(
  context: Context,
  loaded: LoadedConfig,
): Promise<readonly DoctorItem[]> {
  const { findServers } = await import("../pick-model.ts");
  const servers = await findServers(context, loaded);
  return servers.map((server) =>
    ok("LOCAL_SERVER", `${server.kind} at ${server.base_url}: ${server.models.length} models`),
  );
}

export function memorySection(loaded: LoadedConfig): DoctorSection {
  const items = MEMORY_TARGETS.map((target): DoctorItem => {
    const file = readMemory(loaded, target);
    if (file.unreadable !== null)
      return error(
        "MEMORY_UNREADABLE",
        `${file.path}: ${file.unreadable}`,
        "Make it readable for this user.",
      );
    const text = `${file.path}: ${file.used} of ${file.limit} characters`;
    return file.cut
      ? warning("MEMORY_TOO_LONG", text, "Shorten it, or raise its limit.")
      : ok("MEMORY", text);
  });
  return { id: "memory-skills", title: "Memory", items };
}

export function policySection(): DoctorSection {
  const items = Object.entries(policyCounts()).map(([file, count]) =>
    ok("POLICY", `${file}: ${count} rules`),
  );
  return { id: "policy", title: "Policy", items };
}

export function profilesSection(home: string): DoctorSection {
  const { profiles, ignored, unknownActive } = listProfiles(rootOf(home));
  const items: DoctorItem[] = [
    ok(
      "PROFILES",
      profiles.map((entry) => `${entry.name}${entry.isActive ? " (active)" : ""}`).join(", "),
    ),
    ...ignored.map(({ entry, reason }) =>
      warning("PROFILE_IGNORED", `profiles/${entry}: ${reason}`),
    ),
  ];
  if (unknownActive !== null) {
    items.push(
      error(
        "ACTIVE_UNKNOWN",
        `active_profile names ${unknownActive}, which is no profile`,
        "hermes -p default profile use default",
      ),
    );
  }
  return { id: "profiles", title: "Profiles", items };
}
