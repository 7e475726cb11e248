// The one hook that follows every change of the set of profiles (product.md D8). `cli` hands in what registers slots.
import { messageOf } from "#base/errors.ts";

/** A profile that is there: its name (or `default`) and its home. */
export interface ProfileRef {
  readonly name: string;
  /** Absolute. */
  readonly home: string;
}

export type ProfileChange =
  | { readonly kind: "created"; readonly profile: ProfileRef }
  /** A directory that was copied in, found at boot or at a start. */
  | { readonly kind: "found"; readonly profile: ProfileRef }
  | { readonly kind: "removed"; readonly profile: ProfileRef }
  | { readonly kind: "renamed"; readonly from: ProfileRef; readonly to: ProfileRef };

/** Called after the change was made. May throw: the change stays, and the failure is shown. */
export type ProfileHook = (change: ProfileChange) => Promise<void>;

/** What `leave` found: whether the gateway ran. */
export interface LeftService {
  readonly wasRunning: boolean;
}

/** The services of profiles as their life cycle needs them; `cli` wires it to the manager. */
export interface ProfileKeeper {
  readonly hook: ProfileHook;
  /**
   * Before a profile goes away or moves: stops its gateway and takes its service away, both verified. Rejects when it
   * does not stop: then nothing is changed.
   */
  leave(profile: ProfileRef): Promise<LeftService>;
  /** Starts the gateway of a profile that ran under its old name. */
  start(profile: ProfileRef): Promise<void>;
}

/** Where nothing supervises gateways there is nothing to register. */
export const noHook: ProfileHook = () => Promise.resolve();

export type HookOutcome =
  | { readonly ok: true }
  /** Exit 3; the sentence says how to repeat the step. */
  | { readonly ok: false; readonly message: string };

export async function runHook(hook: ProfileHook, change: ProfileChange): Promise<HookOutcome> {
  const { name } = change.kind === "renamed" ? change.to : change.profile;
  try {
    await hook(change);
    return { ok: true };
  } catch (cause) {
    const why = messageOf(cause);
    const message = `Profile ${name} was ${change.kind}, but its service was not registered: ${why}. Run "hermes profile repair ${name}".`;
    return { ok: false, message };
  }
}
