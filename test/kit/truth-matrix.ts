// Faults × observers: who says something untrue of a service, later than two seconds after the fault (issue 5, product.md D4).
import assert from "node:assert/strict";
import { OBSERVERS, type Claim, type Observer, type Truth } from "./truth-observers.ts";
import { DASHBOARD, GATEWAY, type TruthRing } from "./truth-ring.ts";

/**
 * Observers may be wrong for so long after a fault. What counts is when a question was asked: an answer to one that was asked
 * later must be true, however long the machine took to start the program that asks.
 */
export const TRUE_WITHIN_MS = 2000;

export interface Fault {
  readonly name: string;
  /** Returns when the fault is there, as s6 and the kernel tell it. */
  inflict(ring: TruthRing): Promise<void>;
  readonly truth: Truth;
  /** The slot that the truth's gateway is; the default's unless given. */
  readonly subject?: string;
  /** Nothing died: no service must be started anew after it. */
  readonly heals?: true;
  /** Nothing can be inflicted after it. */
  readonly isLast?: true;
  /** Undoes what the next start cannot know of. */
  undo?(ring: TruthRing): Promise<void> | void;
}

export interface Cell {
  readonly fault: string;
  readonly observer: string;
  /** null: it is true. */
  readonly lie: string | null;
}

/** All observers at once, each asked until it is true or was asked too late. */
export async function observe(
  ring: TruthRing,
  fault: Fault,
  more: readonly Observer[] = [],
): Promise<readonly Cell[]> {
  const since = performance.now();
  const observers = [...OBSERVERS, ...more];
  const cells = await Promise.all(observers.map((observer) => judge(ring, fault, observer, since)));
  const [gateway, dashboard] = await Promise.all([
    fault.subject === undefined ? ring.answers(GATEWAY) : null,
    ring.answers(DASHBOARD),
  ]);
  return cells.map(({ claim, ...cell }) => ({
    ...cell,
    lie:
      cell.lie ??
      againstRequest("gateway", claim.gateway, gateway) ??
      againstRequest("dashboard", claim.dashboard, dashboard),
  }));
}

async function judge(
  ring: TruthRing,
  fault: Fault,
  observer: Observer,
  since: number,
): Promise<Cell & { readonly claim: Claim }> {
  const subject = fault.subject ?? GATEWAY;
  const truth = observer.truth(fault.truth, subject);
  const cell = { fault: fault.name, observer: observer.name };
  for (;;) {
    const isLate = performance.now() - since >= TRUE_WITHIN_MS;
    const claim = await observer
      .ask(ring, subject)
      .catch((error: unknown) => ({ silent: String(error) }));
    if (isSame(claim, truth)) return { ...cell, claim, lie: null };
    if (isLate) {
      const lie = `says ${JSON.stringify(claim)}, true is ${JSON.stringify(truth)}`;
      return { ...cell, claim, lie };
    }
  }
}

function isSame(claim: Claim, truth: Claim): boolean {
  try {
    assert.deepEqual(claim, truth);
    return true;
  } catch {
    return false;
  }
}

const DOWN: readonly string[] = ["stopped", "disabled", "refused"];

/** The table's truth is not taken on trust: nobody is ready whose request fails, and nobody down whose request succeeds. */
function againstRequest(
  name: string,
  state: string | undefined,
  answers: boolean | null,
): string | null {
  if (state === "ready" && answers === false)
    return `says that the ${name} is ready; a request fails`;
  if (state !== undefined && DOWN.includes(state) && answers === true)
    return `says that the ${name} is ${state}; a request succeeds`;
  return null;
}
