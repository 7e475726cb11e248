// One tiny real request: does this model answer with this key? (agent.md §1.3 `model test`, dashboard.md §11.1 setup)
import type { ModelErrorKind } from "#protocol/model-errors.ts";
import type { ModelChoice } from "./choose.ts";
import type { OpenDeps } from "./open.ts";

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

/** Never throws; ends after 20 s at the latest. */
export async function testModel(_choice: ModelChoice, _deps: OpenDeps): Promise<ProbeResult> {
  return { ok: false, stage: "model", kind: "bad-request", message: "" };
}
