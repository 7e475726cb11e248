// One tiny real request: does this model answer with this key? (agent.md §1.3 `model test`, dashboard.md §11.1 setup)
import { isHermesError, messageOf } from "#base/errors.ts";
import type { ModelEvent, ModelRequest, ModelTarget } from "#agent/ports/model-client.ts";
import type { ModelError, ModelErrorKind } from "#protocol/model-errors.ts";
import type { ModelChoice } from "./choose.ts";
import { openTarget, type OpenDeps } from "./open.ts";

export type ProbeStage = "dns" | "connect" | "tls" | "auth" | "model" | "quota";

export type ProbeResult =
  | {
      readonly ok: true;
      readonly model: string;
      readonly latency_ms: number;
      readonly context_window: number;
    }
  | {
      readonly ok: false;
      readonly stage: ProbeStage;
      readonly kind: ModelErrorKind;
      /** One sentence without secrets. */
      readonly message: string;
    };

const LIMIT_MS = 20_000;
const ANTHROPIC_OUTPUT_TOKENS = 256;

/** Never throws; ends after 20 s at the latest, and at the first word of an answer. */
export async function testModel(choice: ModelChoice, deps: OpenDeps): Promise<ProbeResult> {
  const started = deps.clock.monotonicMs();
  const limit = new AbortController();
  const timer = deps.clock.after(LIMIT_MS, () => limit.abort(new Error("time limit")));
  try {
    const target = await openTarget(choice, deps);
    const failure = await firstFailure(target, choice, limit.signal);
    if (failure !== null) return failure;
    const latencyMs = Math.round(deps.clock.monotonicMs() - started);
    return {
      ok: true,
      model: choice.model,
      latency_ms: latencyMs,
      context_window: target.contextWindow,
    };
  } catch (error) {
    const kind = isHermesError(error, "CONTEXT_TOO_SMALL") ? "context" : "bad-request";
    return { ok: false, stage: "model", kind, message: messageOf(error) };
  } finally {
    timer.cancel();
  }
}

async function firstFailure(
  target: ModelTarget,
  choice: ModelChoice,
  signal: AbortSignal,
): Promise<ProbeResult | null> {
  let answering = false;
  const request: ModelRequest = {
    system: "",
    messages: [{ role: "user", text: "Answer with the single word: ok" }],
    tools: [],
    toolChoice: "auto",
    effort: "",
    maxOutputTokens: choice.wire === "anthropic-messages" ? ANTHROPIC_OUTPUT_TOKENS : null,
    signal,
    onProgress: () => {
      answering = true;
    },
  };
  const event = await firstEvent(target.client.stream(request));
  // An answer without words still proves address, key and model.
  if (event?.type !== "error" || event.error.kind === "empty") return null;
  return event.error.kind === "aborted" ? late(choice, answering) : failed(event.error);
}

/** Leaving the loop ends the request. */
async function firstEvent(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent | null> {
  for await (const event of stream) return event;
  return null;
}

function late(choice: ModelChoice, answering: boolean): ProbeResult {
  const message = `${choice.host} did not answer within ${LIMIT_MS / 1000} s.`;
  return { ok: false, stage: answering ? "model" : "connect", kind: "stalled", message };
}

function failed(error: ModelError): ProbeResult {
  return { ok: false, stage: stageOf(error), kind: error.kind, message: error.message };
}

const STAGES: Readonly<Record<Exclude<ModelErrorKind, "network">, ProbeStage>> = {
  auth: "auth",
  billing: "quota",
  "rate-limit": "quota",
  "model-missing": "model",
  overloaded: "model",
  server: "model",
  context: "model",
  filtered: "model",
  empty: "model",
  "bad-request": "model",
  // Something answers there that is no model's API.
  garbled: "connect",
  stalled: "connect",
  aborted: "connect",
};

export function stageOf(error: ModelError): ProbeStage {
  if (error.kind !== "network") return STAGES[error.kind];
  const code = error.code ?? "";
  if (/^(ENOTFOUND|EAI_)/.test(code)) return "dns";
  return /^(ERR_(TLS|SSL)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_|INVALID_CA|EPROTO|PATH_LENGTH)/.test(
    code,
  )
    ? "tls"
    : "connect";
}
