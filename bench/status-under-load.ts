// `/api/status` while a chat streams and the store is busy (product.md §4: p99 ≤ 50 ms).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, percentile, report, startDashboard, type Server } from "./measure.ts";

const ASKS = 400;

export async function statusUnderLoad(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  writeFileSync(join(home, "config.yaml"), "model:\n  provider: demo\n");
  const server = await startDashboard(home, { HERMES_DEMO_DELAY_MS: "1" });
  try {
    await streamLongAnswer(server);
    const times: number[] = [];
    const codes = new Set<number>();
    for (let ask = 0; ask < ASKS; ask++) {
      const started = performance.now();
      const response = await fetch(`${server.url}/api/status`);
      await response.arrayBuffer();
      times.push(performance.now() - started);
      codes.add(response.status);
    }
    report("/api/status while a chat streams", {
      "median ms": median(times),
      "p99 ms": percentile(times, 0.99),
      goal: "<= 50",
      codes: [...codes].join("/"),
    });
  } finally {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Four sessions stream 2000 words each; every word is written to the store before it is shown. */
async function streamLongAnswer(server: Server): Promise<void> {
  const page = await (await fetch(server.url)).text();
  const token = /__HERMES_SESSION_TOKEN__\s*=\s*"([^"]+)"/u.exec(page)?.[1] ?? "";
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-hermes-session-token": token },
      body: JSON.stringify(body),
    });
    if (response.status >= 300)
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  for (let session = 0; session < 4; session++) {
    const { session_id: id } = await post("/api/chat/sessions", {});
    await post(`/api/chat/sessions/${String(id)}/messages`, {
      text: "stream 2000",
      client_message_id: `m${session}`,
    });
  }
}
