// Everything that the dashboard serves, one set per profile, opened at its first request and kept (dashboard/deps.ts).
import { join } from "node:path";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { HermesError } from "#base/errors.ts";
import { activeProfile } from "#profile/active.ts";
import type { CloneRequest } from "#profile/clone.ts";
import { createProfile } from "#profile/create.ts";
import { findProfile } from "#profile/find.ts";
import type { ProfileRef } from "#profile/hook.ts";
import { listProfiles } from "#profile/list.ts";
import { DEFAULT_PROFILE, parseProfileName } from "#profile/name.ts";
import type { CreateProfileBody, CreateProfileInput } from "#protocol/http-status.ts";
import { openManager } from "#supervisor/open.ts";
import type { ProfileDirectory, ProfileServices } from "#dashboard/deps.ts";
import type { SessionService } from "#session/types.ts";
import { ensureHome, openSessions, openWorkspaceStore, type Workspace } from "../compose.ts";
import { openConfigSource } from "../config-source.ts";
import type { Context } from "../context.ts";
import { profileHook } from "../profile-keeper.ts";
import { reservedWords } from "../registry.ts";
import { configFlags, runOverrides } from "../run-flags.ts";
import { modelHelpers } from "./models.ts";

export interface OpenProfiles {
  readonly directory: ProfileDirectory;
  /** Hides the secrets of every profile that is open. */
  redact(text: string): string;
  close(): Promise<void>;
}

interface OpenProfile extends ProfileServices {
  readonly store: SessionStore;
  readonly sessions: SessionService;
}

export function openProfiles(context: Context, workspace: Workspace, root: string): OpenProfiles {
  const opening = new Map<string, Promise<OpenProfile>>();
  const opened = new Map<string, OpenProfile>();

  async function open(profile: ProfileRef): Promise<OpenProfile> {
    const services = await openServices(context, workspace, profile);
    opened.set(profile.home, services);
    return services;
  }
  const directory: ProfileDirectory = {
    async open(name) {
      const profile = name === undefined ? defaultProfile(context, root) : known(root, name);
      const found = opening.get(profile.home) ?? open(profile);
      opening.set(profile.home, found);
      found.catch(() => opening.delete(profile.home));
      return found;
    },
    glance() {
      const profile = defaultProfile(context, root);
      const { home } = profile;
      const config =
        home === workspace.launch.home
          ? workspace.config
          : openConfigSource({ ...context.launch, home }, configFlags(context.line.options));
      return {
        name: profile.name,
        loaded: () => config.loaded(),
        models: modelHelpers(context, config, workspace.logs.component("model")),
      };
    },
    opened: () => [...opened.values()],
    async list() {
      return listProfiles(root).profiles.map((entry) => ({
        name: entry.name,
        path: entry.home,
        is_default: entry.isDefault,
        active: entry.isActive,
        model: entry.model?.id || null,
        provider: entry.model?.provider ?? null,
        has_env: entry.hasEnv,
        skill_count: entry.skillCount,
      }));
    },
    create: (input) => create(context, workspace, root, input),
  };
  return {
    directory,
    redact: (text) =>
      [...opened.values()].reduce(
        (hidden, profile) => profile.redactor.text(hidden),
        workspace.redactor.text(text),
      ),
    async close() {
      await Promise.all([...opened.values()].map(closeProfile));
      opened.clear();
    },
  };
}

/** With its service, down, where something supervises (product.md D8). */
async function create(
  { launch }: Context,
  { lock }: Workspace,
  root: string,
  input: CreateProfileInput,
): Promise<CreateProfileBody> {
  const name = parseProfileName(input.name, reservedWords());
  const clone = cloneOf(launch.env, root, input);
  const manager = openManager({ env: launch.env, project: launch.project, root, lock });
  const skills = input.no_skills !== true;
  const { profile, hook } = await createProfile(
    { root, name, skills, ...(clone === null ? {} : { clone }) },
    profileHook(manager),
  );
  const registered = hook.ok && manager.canRegister;
  const service = { registered, detail: hook.ok ? null : hook.message };
  const made = { name, path: profile.home, service };
  return hook.ok ? { ok: true, ...made } : { ok: false, code: "partial", ...made };
}

function cloneOf(
  env: Context["launch"]["env"],
  root: string,
  { clone_from: from, clone_from_default: fromDefault }: CreateProfileInput,
): CloneRequest | null {
  const wanted = from ?? (fromDefault === true ? DEFAULT_PROFILE : undefined);
  if (wanted === undefined) return null;
  const source = findProfile(root, wanted);
  return { source, all: false, sourceEnv: source.name === DEFAULT_PROFILE ? env : {} };
}

async function closeProfile(profile: OpenProfile): Promise<void> {
  await profile.sessions.close("shutdown");
  await profile.store.close();
}

/** The profile that this process was started for, if that was said; else the active one as it is now (C12). */
function defaultProfile({ launch }: Context, root: string): ProfileRef {
  if (!launch.isProfileGiven) return activeProfile(root);
  const name =
    launch.home === root ? "default" : launch.home.slice(join(root, "profiles").length + 1);
  return { name, home: launch.home };
}

function known(root: string, name: string): ProfileRef {
  try {
    return findProfile(root, name);
  } catch (error) {
    if (!(error instanceof HermesError) || error.code !== "PROFILE_NOT_FOUND") throw error;
    throw new HermesError("PROFILE_UNKNOWN", error.message, {
      exit: error.exit,
      data: error.data,
      cause: error,
    });
  }
}

async function openServices(
  context: Context,
  workspace: Workspace,
  profile: ProfileRef,
): Promise<OpenProfile> {
  const { options } = context.line;
  const launch = { ...context.launch, home: profile.home };
  await ensureHome(launch);
  const config = openConfigSource(launch, configFlags(options));
  const own: Workspace = {
    ...workspace,
    launch,
    config,
    redactor: config.redactor,
    loaded: () => config.loaded(),
    close: async () => undefined,
  };
  const store = await openWorkspaceStore(own);
  try {
    const sessions = await openSessions(own, store, runOverrides(options));
    return {
      name: profile.name,
      home: profile.home,
      loaded: () => config.loaded(),
      reload: () => config.reload(),
      sessions,
      store,
      archive: store,
      redactor: config.redactor,
      models: modelHelpers(context, config, workspace.logs.component("model")),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
