// Everything that the dashboard serves, one set per profile, opened at its first request and kept (dashboard/deps.ts).
import { join } from "node:path";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { HermesError } from "#base/errors.ts";
import { activeProfile } from "#profile/active.ts";
import { findProfile } from "#profile/find.ts";
import type { ProfileRef } from "#profile/hook.ts";
import { listProfiles } from "#profile/list.ts";
import type { ProfileDirectory, ProfileServices } from "#dashboard/deps.ts";
import type { SessionService } from "#session/types.ts";
import { ensureHome, openSessions, openWorkspaceStore, type Workspace } from "../compose.ts";
import { openConfigSource } from "../config-source.ts";
import type { Context } from "../context.ts";
import { configFlags, runOverrides } from "../run-flags.ts";
import { modelHelpers } from "./models.ts";
import { profileChanges } from "./profile-changes.ts";

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
  /** Closed and let go of, before its files move. */
  async function forget(home: string): Promise<void> {
    const pending = opening.get(home);
    opening.delete(home);
    opened.delete(home);
    const profile = await pending?.catch(() => undefined);
    if (profile) await closeProfile(profile);
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
    ...profileChanges(context, workspace, root, forget),
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
