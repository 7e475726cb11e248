// Who decides about a dangerous call: the order of agent.md §5.3. The tool states facts, this file the order.
import { messageOf } from "#base/errors.ts";
import type { ApprovalChoice } from "#protocol/events.ts";
import type { Assessment, RuleHit } from "./ports/tool.ts";
import type { TurnSettings } from "./ports/turn.ts";
import { showState, type Turn } from "./turn.ts";
import { within } from "./within.ts";

export interface ApprovalContext {
  readonly yolo: boolean;
  readonly answerable: boolean;
  readonly settings: TurnSettings["approvals"];
  readonly allowedKeys: ReadonlySet<string>;
}

export type DenialCode =
  | "HARD_BLOCKED"
  | "DENIED_BY_CONFIG"
  | "APPROVAL_DENIED"
  | "APPROVAL_TIMEOUT"
  | "APPROVAL_UNATTENDED";

export type Verdict =
  | { readonly verdict: "allow" }
  | { readonly verdict: "deny"; readonly code: DenialCode; readonly rule: RuleHit }
  | { readonly verdict: "ask"; readonly rule: RuleHit };

const ALLOW: Verdict = { verdict: "allow" };

/** Steps 1–7; the first that decides wins. Pure. */
export function judge(assessment: Assessment, context: ApprovalContext): Verdict {
  const { hardBlock, denied, dangerous, allowListed, allowKey } = assessment;
  const { mode, unattended } = context.settings;
  if (hardBlock) return { verdict: "deny", code: "HARD_BLOCKED", rule: hardBlock };
  if (denied) return { verdict: "deny", code: "DENIED_BY_CONFIG", rule: denied };
  if (context.yolo || mode === "off") return ALLOW;
  if (!dangerous) return ALLOW;
  if (allowListed || (allowKey !== "" && context.allowedKeys.has(allowKey))) return ALLOW;
  if (mode === "deny") return { verdict: "deny", code: "APPROVAL_DENIED", rule: dangerous };
  if (context.answerable) return { verdict: "ask", rule: dangerous };
  return unattended === "allow"
    ? ALLOW
    : { verdict: "deny", code: "APPROVAL_UNATTENDED", rule: dangerous };
}

/** What the model is told of a denial: the rule, and to find another way. */
export function denialText(code: DenialCode, rule: RuleHit): string {
  const why = {
    HARD_BLOCKED: "It is never run, whoever asks",
    DENIED_BY_CONFIG: "approvals.deny forbids it",
    APPROVAL_DENIED: "It was not allowed",
    APPROVAL_TIMEOUT: "Nobody answered in time, which counts as no",
    APPROVAL_UNATTENDED: "Nobody is here to allow it",
  }[code];
  return `Not run: rule ${rule.id} (${rule.reason}). ${why}. Do not try the same in disguise; find another way or say that you cannot.`;
}

/** Asks whoever watches, one request at a time. Ends by answer, time-out (deny) or stop (deny). */
export async function askApproval(
  turn: Turn,
  callId: string,
  assessment: Assessment,
  rule: RuleHit,
): Promise<Verdict> {
  const { deps } = turn;
  const requestId = deps.makeId("req");
  const { timeoutMs } = deps.settings.approvals;
  const answer = deps.approval(requestId).catch(() => ({ choice: "deny" as const, by: "error" }));
  deps.emit({
    type: "approval-request",
    requestId,
    callId,
    kind: assessment.kind,
    title: deps.redactor.text(assessment.title),
    detail: deps.redactor.text(assessment.detail),
    rule: `${rule.id}: ${rule.reason}`,
    choices: choicesFor(assessment),
    expiresAt: new Date(deps.clock.now() + timeoutMs).toISOString(),
  });
  showState(turn, "waiting-approval");
  const came = await within(answer, {
    clock: deps.clock,
    ms: timeoutMs,
    signal: turn.stop.signal,
  });
  const decided =
    came.came === "value"
      ? came.value
      : { choice: "deny" as const, by: came.came === "timeout" ? "timeout" : "interrupt" };
  deps.emit({ type: "approval-end", requestId, ...decided });
  showState(turn, "tools");
  if (decided.choice === "deny") {
    const code = came.came === "timeout" ? "APPROVAL_TIMEOUT" : "APPROVAL_DENIED";
    return { verdict: "deny", code, rule };
  }
  await remember(turn, decided.choice, assessment);
  return ALLOW;
}

/** Without a key there is nothing that "for this session" could remember. */
function choicesFor(assessment: Assessment): readonly ApprovalChoice[] {
  return assessment.allowKey === "" ? ["once", "deny"] : ["once", "session", "always", "deny"];
}

async function remember(
  turn: Turn,
  choice: Exclude<ApprovalChoice, "deny">,
  assessment: Assessment,
): Promise<void> {
  if (choice === "once" || assessment.allowKey === "") return;
  turn.deps.memory.allowedKeys.add(assessment.allowKey);
  if (choice === "session") return;
  try {
    await turn.deps.tools.allowAlways(assessment);
  } catch (error) {
    const reason = turn.deps.redactor.text(messageOf(error));
    turn.deps.emit({
      type: "notice",
      level: "warning",
      code: "ALLOW_NOT_SAVED",
      text: `"always" could not be written to command_allowlist (${reason}); it holds for this session`,
    });
  }
}
