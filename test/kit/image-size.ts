// What a pull of an image moves: `docker save` through gzip at the level that registries' clients use.
import { spawn } from "node:child_process";
import type { TestContext } from "node:test";
import { createGzip } from "node:zlib";

const LIMIT_MS = 180_000;

/** Bytes. Rejects with what docker said, or when 180 s were not enough. */
export async function compressedSize(
  t: Pick<TestContext, "after">,
  image: string,
): Promise<number> {
  const saving = spawn("docker", ["save", image], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
  });
  t.after(() => saving.kill("SIGKILL"));
  let said = "";
  saving.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = new Promise<number | null>((resolve, reject) => {
    saving.once("error", reject);
    saving.once("close", resolve);
  });
  let bytes = 0;
  for await (const part of saving.stdout.pipe(createGzip())) bytes += (part as Buffer).length;
  const code = await ended;
  if (code !== 0) throw new Error(`docker save ${image} ended with ${code}: ${said}`);
  return bytes;
}
